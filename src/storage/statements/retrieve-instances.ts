import type { Statement } from '../statement.ts';

/** What is retrieved: everything of a study, of a series, or one instance. The parameters behind the site are its UIDs in this order. */
export const retrieveLevels = ['study_uid', 'series_uid', 'sop_instance_uid'] as const;

function statements(name: string, text: (condition: string, depth: number) => string): readonly Statement[] {
	return retrieveLevels.map((level, index) => {
		const condition = retrieveLevels.slice(0, index + 1).map((column, at) => `i.${column} = $${at + 2}`);
		return { name: `${name}_${level}`, text: text(condition.join(' and '), index + 1) };
	});
}

/** In which transfer syntaxes the instances are stored; one statement a level. */
export const retrievedSyntaxes = statements(
	'retrieved_syntaxes',
	(condition) => `
select i.transfer_syntax_uid, count(*)
from imaging_instance i
where i.site_id = $1 and ${condition}
group by i.transfer_syntax_uid`,
);

/** A page of the instances by series and instance UID, behind the pair that the last parameters but one name. */
export const retrievedInstances = statements(
	'retrieved_instances',
	(condition, depth) => `
select i.series_uid, i.sop_instance_uid, i.sop_class_uid, i.transfer_syntax_uid, i.object_key
from imaging_instance i
where i.site_id = $1 and ${condition} and (i.series_uid, i.sop_instance_uid) > ($${depth + 2}, $${depth + 3})
order by i.series_uid, i.sop_instance_uid
limit $${depth + 4}`,
);
