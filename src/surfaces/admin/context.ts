import type { Sessions } from '#access/sessions.ts';
import type { SignIn } from '#access/sign-in.ts';
import type { OperationContext } from '#administration/context.ts';
import type { Log } from '#core/log.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { AdminLimits } from './limits.ts';
import type { Figures } from './live/figures.ts';
import type { Watchers } from './live/watchers.ts';
import type { AdminMetrics } from './metrics.ts';

/** Operations need this of the service, besides who calls and from where. */
export type OperationServices = Omit<OperationContext, 'actor' | 'source' | 'visibleSites'>;

/** The routes of the admin API work with this. */
export interface AdminContext {
	sessions: Sessions;
	signIn: SignIn;
	limits: AdminLimits & HttpLimits;
	metrics: AdminMetrics & HttpMetrics;
	log: Log;
	/** Made when first asked for. */
	services(): Promise<OperationServices>;
	figures: Figures;
	watchers: Watchers;
}
