import { Failure } from '#core/failure.ts';
import type { HttpRequest } from '../http/message.ts';

const pattern = /^[1-9]\d{0,8}(?:,[1-9]\d{0,8})*$/;

/** Returns the numbers of the frames that a path names, from 1. @throws Failure `invalid` */
export function frameNumbers(request: Pick<HttpRequest, 'params'>): number[] {
	const list = request.params['frames'] ?? '';
	if (!pattern.test(list)) throw new Failure('invalid', 'the frame list must be numbers from 1, separated by commas');
	return list.split(',').map(Number);
}
