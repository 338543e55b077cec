import { Migration } from '@mikro-orm/migrations';

/**
 * Counts the nodes that have carried out a run, one after the other. A node that stood still and goes on sees by it that another one has taken
 * the run up.
 *
 * Locks: `replay_run` exclusively, for a moment; nothing is rewritten. An older release leaves the column as it is, and still ends replays of
 * nodes that are gone as interrupted.
 */
export class ReplayAttempts extends Migration {
	override up(): void {
		this.addSql('alter table replay_run add column attempt integer not null default 1;');
	}
}
