/** An example of what each operation answers, a table for each subject. */
import type { Answers } from "./answers.ts";
import { CONVERSATION_ANSWERS } from "./conversation-answers.ts";
import { DECISION_ANSWERS } from "./decision-answers.ts";
import { ORDER_ANSWERS } from "./order-answers.ts";
import { REGION_ANSWERS } from "./region-answers.ts";
import { STATUS_ANSWERS } from "./status-answers.ts";
import { TOKEN_ANSWERS } from "./token-answers.ts";
import { ZONE_ANSWERS } from "./zone-answers.ts";

export const ANSWER_EXAMPLES: Answers = {
  ...STATUS_ANSWERS,
  ...REGION_ANSWERS,
  ...ORDER_ANSWERS,
  ...CONVERSATION_ANSWERS,
  ...DECISION_ANSWERS,
  ...ZONE_ANSWERS,
  ...TOKEN_ANSWERS,
};
