/** Set by `stripping.mjs` where it keeps the modules of this process without their types. */
const by = (globalThis as { [name: symbol]: unknown })[Symbol.for('tributary.stripping')];

/** Arguments of Node.js by which a thread or process has its modules from there, too. */
export const strippingArguments: readonly string[] = typeof by === 'string' ? ['--import', by] : [];
