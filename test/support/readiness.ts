import { askManyAnew } from './anew.ts';

/** The answer of `/health/ready`. */
export interface Readiness {
	status: number;
	checks: Record<string, string>;
	reasons?: Record<string, string>;
}

export async function readinessOf(service: { port(name: string): number }): Promise<Readiness> {
	const answer = await fetch(`http://127.0.0.1:${service.port('ops')}/health/ready`);
	const { checks, reasons } = (await answer.json()) as Omit<Readiness, 'status'>;
	return { status: answer.status, checks, ...(reasons && { reasons }) };
}

/** The answers of all processes of a node, each of which looks for itself. */
export async function readinessOfAll(service: { port(name: string): number }): Promise<Readiness[]> {
	const answers = await askManyAnew({ port: service.port('ops'), path: '/health/ready' });
	return answers.map(({ status, text }) => ({ ...JSON.parse(text), status }));
}
