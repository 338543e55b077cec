import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { operations } from '#fhir/capability-statement.ts';
import { fhirOpenApi } from '#fhir/openapi.ts';
import { resources } from '#fhir/resources/index.ts';
import { dicomWebOpenApi } from '#surfaces/dicomweb/openapi.ts';

interface Document {
	paths: Record<string, Record<string, { operationId?: string; parameters?: { name: string; in: string }[] }>>;
}

const document = fhirOpenApi('1.2.3', 'https://fhir.test', dicomWebOpenApi) as Document;

describe('the OpenAPI document of FHIR', () => {
	test('is valid, and names every operation once', async () => {
		const { valid, errors } = await new Validator().validate({ ...document });
		assert.ok(valid, JSON.stringify(errors ?? '').slice(0, 2000));
		const ids = Object.values(document.paths)
			.flatMap((item) => Object.values(item))
			.map(({ operationId }) => operationId);
		assert.deepEqual(
			ids.filter((id, index) => ids.indexOf(id) !== index),
			[],
		);
	});

	test('has the operations of the capability statement', () => {
		const paths = Object.keys(document.paths);
		const missing = operations.map(({ name }) => name).filter((name) => !paths.some((path) => path.endsWith(`$${name}`)));
		assert.deepEqual(missing, []);
	});

	test('has the search parameters of the types that it describes', () => {
		for (const definition of Object.values(resources)) {
			const search = document.paths[`/fhir/${definition.type}`]?.['get'];
			if (search?.parameters === undefined) continue;
			const named = search.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
			const missing = Object.keys(definition.search).filter((name) => !named.includes(name));
			assert.deepEqual(missing, [], definition.type);
		}
	});

	test('has DICOMweb as well, which stands on the same origin', () => {
		assert.ok('/dicomweb/studies' in document.paths);
	});
});
