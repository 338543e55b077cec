import { createHmac } from 'node:crypto';
import { type HttpReach, permittedRequest } from '#core/permitted-request.ts';
import { type Notice, subjectOf, textOf } from './notice.ts';

export type Recipient = { by: 'email'; target: string } | { by: 'webhook'; target: string; secret: Uint8Array };

/** A notification could not be sent. The text says why, and holds nothing of what was sent. */
export class NotSent extends Error {
	override readonly name = 'NotSent';
}

export interface Mail {
	host: string;
	port: number;
	/** TLS from the start; otherwise STARTTLS, where the server offers it. */
	secure: boolean;
	/** Empty: nobody signs in. */
	user: string;
	password: string | undefined;
	from: string;
}

/** The reach is that of webhooks; mails have the same time. */
export interface SenderOptions extends HttpReach {
	/** Undefined where no mail server is set. */
	mail: Mail | undefined;
	nowMs(): number;
}

/** Sends notices by mail and by signed webhook. */
export class Sender {
	readonly #options: SenderOptions;

	constructor(options: SenderOptions) {
		this.#options = options;
	}

	/** @throws NotSent */
	async send(recipient: Recipient, notice: Notice): Promise<void> {
		try {
			if (recipient.by === 'email') await this.#mail(recipient.target, notice);
			else await this.#call(recipient.target, recipient.secret, notice);
		} catch (error) {
			if (error instanceof NotSent) throw error;
			throw new NotSent(reasonOf(error), { cause: error });
		}
	}

	async #mail(to: string, notice: Notice): Promise<void> {
		const { mail, msMax } = this.#options;
		if (mail === undefined) throw new NotSent('no mail server is set (SMTP_URL, SMTP_FROM)');
		const { createTransport } = await import('nodemailer');
		const times = { connectionTimeout: msMax, greetingTimeout: msMax, socketTimeout: msMax, dnsTimeout: msMax };
		const { host, port, secure, user, password: pass = '' } = mail;
		// A password is never sent in the clear.
		const signIn = user === '' ? {} : { auth: { user, pass }, requireTLS: !secure };
		const transport = createTransport({ host, port, secure, ...signIn, ...times, disableFileAccess: true, disableUrlAccess: true });
		const domain = mail.from.slice(mail.from.lastIndexOf('@') + 1).replace(/[^\w.-]/g, '');
		// Nobody reads what an automatic answer says.
		const headers = { 'Auto-Submitted': 'auto-generated', 'X-Tributary-Event': notice.event };
		const message = { from: mail.from, to: { name: '', address: to }, subject: subjectOf(notice), text: textOf(notice), headers };
		try {
			await within(msMax, transport.sendMail({ ...message, messageId: `<${notice.id}@${domain}>` }));
		} finally {
			transport.close();
		}
	}

	async #call(target: string, secret: Uint8Array, notice: Notice): Promise<void> {
		const body = JSON.stringify(notice);
		const timestamp = String(Math.floor(this.#options.nowMs() / 1000));
		const headers = {
			'Content-Type': 'application/json',
			'Tributary-Delivery': notice.id,
			'Tributary-Timestamp': timestamp,
			'Tributary-Signature': signatureOf(secret, timestamp, body),
		};
		const response = await permittedRequest(target, { method: 'POST', headers, body }, this.#options);
		response.on('error', () => undefined);
		response.destroy();
		const { statusCode = 0 } = response;
		if (statusCode < 200 || statusCode > 299) throw new NotSent(`the receiver answered ${statusCode}`);
	}
}

/** The signature of a webhook: HMAC-SHA256 over the time, a dot and the body. */
export function signatureOf(secret: Uint8Array, timestamp: string, body: string): string {
	return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

async function within<T>(msMax: number, work: Promise<T>): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new NotSent(tooLate)), msMax);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}

/** An error of Node.js, or of nodemailer, which puts a kind of its own (`ESOCKET`) before the code of the system. */
interface Fault {
	name?: unknown;
	message?: unknown;
	code?: unknown;
	originalCode?: unknown;
	/** The reply code of the mail server, such as 535. */
	responseCode?: unknown;
	/** The SMTP command to which it answered. */
	command?: unknown;
	cause?: { name?: unknown };
}

/** A mail server's own words are left out, because they may repeat what it was sent. */
function reasonOf(error: unknown): string {
	const { name, code, originalCode, responseCode, cause } = error as Fault;
	const isLate = code === 'ETIMEDOUT' || code === 'ABORT_ERR' || [name, cause?.name].some((one) => one === 'TimeoutError');
	if (isLate || name === 'AbortError') return tooLate;
	const certificate = certificateFault(error as Fault);
	if (certificate !== undefined) return certificate;
	if (typeof responseCode === 'number') return answered(error as Fault, responseCode);
	if (code === 'ETLS') return 'a TLS connection with the mail server did not come about';
	if (typeof originalCode === 'string') return originalCode;
	return typeof code === 'string' ? code : 'the connection failed';
}

const tooLate = 'it takes too long';

/** STARTTLS and what follows it (RFC 3207), and the sign-in (RFC 4954), are refused for a reason that the operator can mend. */
function answered({ code, command }: Fault, status: number): string {
	if (code === 'EAUTH') return `the mail server refuses the user of SMTP_URL or the password (${status})`;
	if (command === 'STARTTLS') return `the mail server offers no STARTTLS (${status}), and a password is sent over TLS only`;
	return `the mail server answered ${status}`;
}

/** Returns what is wrong with the receiver's certificate. nodemailer keeps no code of an error within STARTTLS, so its text tells. */
function certificateFault({ code, originalCode, message }: Fault): string | undefined {
	const text = [originalCode, code, message].join(' ');
	if (/altnames/i.test(text) || text.includes('ERR_TLS_CERT_ALTNAME_INVALID')) return "the receiver's certificate has another name";
	if (/certificate has expired|CERT_HAS_EXPIRED/.test(text)) return "the receiver's certificate has expired";
	return /self.signed|SELF_SIGNED|unable to (?:get|verify)|UNABLE_TO/.test(text)
		? "the receiver's certificate is not trusted; NODE_EXTRA_CA_CERTS names further authorities"
		: undefined;
}
