/** One thing that the doctor looks at: further ones are a file each, and a line in subjects.ts. */
import type { DoctorContext } from "./context.ts";
import type { Finding } from "./finding.ts";

export type Subject = {
  /** As people read it, such as "store". */
  readonly name: string;
  /** May reject where something is beyond it: that becomes a finding, too. */
  readonly look: (context: DoctorContext) => Promise<readonly Finding[]>;
};
