import type { z } from 'zod';
import type { addGroupInput, groupRecord } from '#administration/sign-in-groups.ts';
import { call } from '../../api.ts';

export type GroupRecord = z.output<typeof groupRecord>;

export const listGroups = call<object, GroupRecord[]>('GET', '/sign-in/groups');
export const addGroup = call<z.input<typeof addGroupInput>, GroupRecord>('POST', '/sign-in/groups');
export const removeGroup = call<{ id: string }, GroupRecord>('DELETE', '/sign-in/groups/{id}');
