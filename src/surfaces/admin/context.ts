import type { ProviderSignIn } from '#access/provider/provider-sign-in.ts';
import type { Refusals } from '#access/refusals.ts';
import type { Sessions } from '#access/sessions.ts';
import type { SignIn } from '#access/sign-in.ts';
import type { OperationContext } from '#administration/context.ts';
import type { Log } from '#core/log.ts';
import type { InstanceEntry } from '#imaging/intake.ts';
import type { ImagingLimits } from '#imaging/limits.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { AdminLimits } from './limits.ts';
import type { Figures } from './live/figures.ts';
import type { Watchers } from './live/watchers.ts';
import type { AdminMetrics } from './metrics.ts';

/** The part of the operation context that the service provides; the caller and their address are added for each request. */
export interface OperationServices extends Omit<OperationContext, 'actor' | 'source' | 'visibleSites' | 'accessChanged'> {
	/** Names the processes of this node that did not confirm a change in time. */
	accessChanged(): Promise<readonly string[]>;
}

/** Everything that the routes of the admin API work with. */
export interface AdminContext {
	sessions: Sessions;
	signIn: SignIn;
	/** Undefined where people have local accounts only. */
	providerSignIn: ProviderSignIn | undefined;
	/** LOCAL_SIGN_IN */
	localSignIn: 'all' | 'administrators';
	/** ADMIN_URL */
	adminUrl: string | undefined;
	limits: AdminLimits & HttpLimits & Pick<ImagingLimits, 'dimseObjectBytesMax'>;
	/** Takes uploaded images. */
	intake: InstanceEntry;
	metrics: AdminMetrics & HttpMetrics;
	log: Log;
	refusals: Pick<Refusals, 'note'>;
	/** The services are created at the first call. */
	services(): Promise<OperationServices>;
	figures: Figures;
	watchers: Watchers;
}
