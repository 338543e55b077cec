/** A column as PostgreSQL writes it, or null; nothing is converted on the way in. */
export type Cell = string | null;
