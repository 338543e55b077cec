import { capabilityStatement } from '#fhir/capability-statement.ts';
import { deleteSetting } from '#fhir/resource.ts';
import { noSettings, settingOf } from '#record/settings/settings.ts';
import { authorize } from '../http/authorize.ts';
import type { HttpAnswer, HttpRequest } from '../http/message.ts';
import { baseOf } from './base.ts';
import type { FhirContext } from './context.ts';
import { answerType } from './negotiation.ts';

/** Must change with the content of the statement. */
const capabilityDate = '2026-11-26';

/** https://hl7.org/fhir/R4/http.html#capabilities */
export async function metadata(context: FhirContext, request: HttpRequest): Promise<HttpAnswer> {
	// Whoever has a key or token learns what holds at the site.
	const isOpen = context.publicMetadata && !(context.tokens.areTaken && request.header('authorization') !== undefined);
	const found = isOpen ? context.directory.grantOfKey(request.header('x-api-key')) : await authorize(context, request);
	const grant = typeof found === 'object' ? found : undefined;
	const settings = grant?.settings ?? noSettings;
	const policy = { ifMatchRequired: settingOf(settings, 'if_match') === 'required', deletes: settingOf(settings, deleteSetting) };
	const endpoints = await context.tokens.endpointsOf(grant?.siteId, false);
	const authorization =
		typeof endpoints === 'string' ? undefined : { token: endpoints.tokenEndpoint, introspect: endpoints.introspectionEndpoint };
	const stated = { version: context.version, base: baseOf(request), date: capabilityDate, policy, authorization };
	return { status: 200, headers: { 'Content-Type': answerType(request) }, body: capabilityStatement(stated) };
}
