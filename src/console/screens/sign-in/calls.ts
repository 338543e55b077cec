import type { z } from 'zod';
import type { policyRecord } from '#administration/sign-in-policy.ts';
import { call } from '../../api.ts';

export interface Factor {
	enabled: boolean;
	required: boolean;
	recovery_codes_left: number;
}

export interface NewFactor {
	secret: string;
	uri: string;
}

interface Codes {
	recovery_codes: string[];
}

type Policy = z.output<typeof policyRecord>;

export const readFactor = call<object, Factor>('GET', '/session/second-factor');
export const beginFactor = call<{ password: string; code?: string }, NewFactor>('POST', '/session/second-factor');
export const confirmFactor = call<{ code: string }, Codes>('PUT', '/session/second-factor');
export const renewCodes = call<{ code: string }, Codes>('POST', '/session/second-factor/recovery-codes');
export const removeFactor = call<{ code: string }, void>('POST', '/session/second-factor/remove');
export const readPolicy = call<object, Policy>('GET', '/sign-in/policy');
export const setPolicy = call<Policy, Policy>('PUT', '/sign-in/policy');
