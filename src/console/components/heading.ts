import { createContext } from 'preact';

/** The level of a heading here: 2 right below that of the page, 3 in what has a heading of level 2. */
export const HeadingLevel = createContext<2 | 3>(2);
