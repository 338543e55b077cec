/** What a person may do; each role includes the ones before it. A manager and an auditor are of some sites, an administrator of all. */
export const roles = ['auditor', 'manager', 'administrator'] as const;
export type Role = (typeof roles)[number];
