import { after, before, describe, test } from 'node:test';
import { resetPassword } from '#administration/users.ts';
import { fc, fuzzing, runs } from '#test/support/fuzzing.ts';
import { type TestService, testService } from '#test/support/service.ts';
import { type AdminClient, owner, signedIn } from '#test/surfaces/admin/client.ts';
import { Course } from './people/course.ts';
import { PeopleSite } from './people/site.ts';
import { madeUpOf } from './people/steps.ts';
import { compareViews } from './people/views.ts';

/**
 * `npm test` has 10 seeds of 10 people each, in the time that 6 people took when they came one after the other. `npm run test:fuzz -- --properties` has 200 seeds of
 * 200 people each: by the processor time of smaller runs some 40 minutes on two cores that do nothing else.
 */
const seeds = 10;
const people = Math.min(200, runs(10));
/** So many sites are under way at the same time. Each of them does one thing after the other. */
const sitesAbreast = 8;

describe('made-up people who come by HL7 v2 and v3, CDA, MPPS, DICOM, FHIR and imports', () => {
	let service: TestService;
	let admin: AdminClient;

	before(async () => {
		service = await testService();
		admin = await signedIn(service, owner, (await resetPassword(service.administration, owner)).password);
	});

	after(() => service[Symbol.asyncDispose]());

	/** Carries out what the seed makes up at a site of its own. */
	async function carryOut(seed: number): Promise<void> {
		const [madeUp] = fc.sample(madeUpOf(people), { seed, numRuns: 1 });
		if (madeUp === undefined) throw new Error('nothing was made up');
		const { settings, taught, steps } = madeUp;
		const site = await PeopleSite.open(service, admin, `s${seed}`, settings);
		const course = new Course(site, settings);
		let told = 'before the first step';
		try {
			for (const [index, step] of steps.entries()) {
				for (const [authority, part] of taught.entries()) if (index === Math.floor(part * steps.length)) await course.teach(authority);
				told = `step ${index}, ${JSON.stringify(step)}`;
				await course.carryOut(step);
			}
			for (const [authority, part] of taught.entries()) if (part === 1) await course.teach(authority);
			await course.answered();
			told = `the comparison after ${steps.length} steps`;
			await compareViews(site, course.model);
		} catch (error) {
			throw new Error(`FUZZ_SEED=${seed} with ${people} people differs from the model at ${told}`, { cause: error });
		} finally {
			site.close();
		}
	}

	test('are the same in every view as in a model that knows nothing of the product', async (context) => {
		const { numRuns, seed: first } = fuzzing(context, seeds);
		const left = Array.from({ length: numRuns }, (_, index) => first + index);
		const failed: unknown[] = [];
		const oneAfterTheOther = async () => {
			for (let seed = left.shift(); seed !== undefined; seed = left.shift()) await carryOut(seed).catch((error) => failed.push(error));
		};
		await Promise.all(Array.from({ length: sitesAbreast }, oneAfterTheOther));
		if (failed.length > 0) throw new AggregateError(failed.slice(0, 3), `${failed.length} of ${numRuns} seeds differ from the model`);
	});
});
