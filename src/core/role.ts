/** The roles of people; each includes the ones before it. Auditors and managers are assigned to sites, an administrator to all. */
export const roles = ['auditor', 'manager', 'administrator'] as const;
export type Role = (typeof roles)[number];
