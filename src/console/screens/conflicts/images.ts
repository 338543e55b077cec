import { lazyPart } from '../../lazy.tsx';

/** The images of a conflict side by side, whose code is loaded with the first conflict. */
export const ConflictImages = lazyPart(() => import('../../images/conflict-images.tsx'));
