/** The service cannot start, for a reason outside of it that one sentence tells. */
export class StartError extends Error {
	override readonly name: string = 'StartError';
	/** The system's code, such as EADDRINUSE. */
	readonly code: string | undefined;

	constructor(message: string, cause?: unknown) {
		super(message, { cause });
		this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
	}
}

/** A setting of the environment names something that cannot be used. */
export class UnusableSetting extends StartError {
	override readonly name: string = 'UnusableSetting';

	constructor(variable: string, why: string, cause?: unknown) {
		super(`${variable} ${why}`, cause);
	}
}

/** A surface cannot have its address. */
export function takenPort(surface: string, host: string, port: number, cause?: unknown): StartError {
	return new StartError(`the ${surface} surface cannot listen on ${host}:${port}: the port is taken or the address is not ours`, cause);
}
