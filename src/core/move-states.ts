/** A site that moves to another database is `leaving` while it is copied, and has `left` when it is served there. Its copy is `arriving`. */
export const moveStates = ['leaving', 'left', 'arriving'] as const;
export type MoveState = (typeof moveStates)[number];
