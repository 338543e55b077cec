import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { findFilter, listFilters, listFiltersInput, removeFilter, savedFilter, saveFilterInput, saveFilterOf } from '../saved-filters.ts';

const values = { screen: '/list', name: 'name', query: 'filters', id: 'filter-id' };

export const savedFilterOperations = [
	defineOperation({
		name: 'filter save',
		summary: 'saves filters of a list of the console under a name, for you alone',
		method: 'POST',
		path: '/filters',
		role: 'auditor',
		scope: 'sites',
		input: saveFilterInput,
		output: savedFilter,
		commandLine: { positionals: ['name'], values },
		example: { screen: '/messages', name: 'Refused in the last hour', query: 'outcome=refused&last=1h' },
		run: saveFilterOf,
	}),
	defineOperation({
		name: 'filter list',
		summary: 'lists the filters that you have saved',
		method: 'GET',
		path: '/filters',
		role: 'auditor',
		scope: 'sites',
		input: listFiltersInput,
		output: z.array(savedFilter),
		commandLine: { values },
		example: { screen: '/messages' },
		run: listFilters,
	}),
	defineOperation({
		name: 'filter remove',
		summary: 'removes a filter that you have saved',
		method: 'DELETE',
		path: '/filters/{id}',
		role: 'auditor',
		scope: 'object',
		called: 'saved filter',
		find: findFilter,
		input: z.strictObject({ id: z.string() }),
		output: savedFilter,
		commandLine: { positionals: ['id'], values },
		example: (idOf) => ({ id: idOf('filter save') }),
		run: removeFilter,
	}),
];
