/** Certificates of listeners that speak TLS. */
import { certificateFindings, readCertificate } from "#gtm/doctor/certificates.ts";
import type { Subject } from "#gtm/doctor/subject.ts";

export const certificates: Subject = {
  name: "certificates",
  look: async ({ config: { http, dns, pools }, clock }) => {
    if (http.tls === null) return [];
    const { name } = dns.zone;
    const [pool] = pools;
    const names = [`front.${name}`, ...(pool === undefined ? [] : [`${pool.name}.front.${name}`])];
    return certificateFindings(await readCertificate(http.tls, names), clock.epochMs());
  },
};
