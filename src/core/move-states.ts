/** Where a site stands that moves to another database: `leaving` while it is copied, `left` when it is served elsewhere, `arriving` for the copy. */
export const moveStates = ['leaving', 'left', 'arriving'] as const;
export type MoveState = (typeof moveStates)[number];
