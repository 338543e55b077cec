import type { S3 } from '@aws-sdk/client-s3';
import { repeatedly } from '#core/watch.ts';
import { type Pin, pinnedMs, touchMs } from './pins.ts';

export interface S3PinsOptions {
	bucket: string;
	/** The prefix of every key, with its `/`; may be empty. */
	prefix: string;
	/** @throws Failure `unavailable` when the store refuses or does not answer */
	ask<T>(request: (client: S3) => Promise<T>): Promise<T>;
}

/** Pins as `Pins` has them, for a bucket: each is an object below `pins/`, so every node that uses the bucket keeps to it. */
export class S3Pins {
	readonly #options: S3PinsOptions;

	constructor(options: S3PinsOptions) {
		this.#options = options;
	}

	/** Tells whether a backup is at work. @throws Failure `unavailable` */
	async any(): Promise<boolean> {
		return (await this.#touched()).some(({ isHeld }) => isHeld);
	}

	/** Holds a pin, and touches it, until it is released or this process ends. @throws Failure `unavailable` */
	async take(name: string): Promise<Pin> {
		const { bucket: Bucket, ask } = this.#options;
		for (const { Key, isHeld } of await this.#touched()) if (!isHeld) await ask((client) => client.deleteObject({ Bucket, Key }));
		const Key = this.#keyOf(name);
		// A pin has no bytes. Each upload has a digest, so that of nothing is sent.
		const touch = () => ask((client) => client.putObject({ Bucket, Key, Body: '', ContentLength: 0, ContentMD5: digestOfNothing }));
		await touch();
		const leave = repeatedly(touchMs, touch);
		return {
			release: async () => {
				// A touch that is under way would make the pin again.
				await leave();
				await ask((client) => client.deleteObject({ Bucket, Key }));
			},
		};
	}

	#keyOf(name: string): string {
		return `${this.#options.prefix}pins/${name}`;
	}

	/** There are hardly ever two, so one page has them all. */
	async #touched(): Promise<{ Key: string; isHeld: boolean }[]> {
		const { bucket, ask } = this.#options;
		const page = await ask((client) => client.listObjectsV2({ Bucket: bucket, Prefix: this.#keyOf('') }));
		return (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
			Key === undefined ? [] : [{ Key, isHeld: (LastModified?.getTime() ?? Date.now()) > Date.now() - pinnedMs }],
		);
	}
}

/** MD5 in base64 (RFC 1864). */
const digestOfNothing = '1B2M2Y8AsgTpgAmY7PhCfg==';
