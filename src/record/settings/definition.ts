/** Those that may have a value of a setting. A sender is an integration client or an API key; its value goes before that of its site. */
export const holders = ['site', 'client', 'key'] as const;
export type Holder = (typeof holders)[number];

/** The groups in which people see settings. */
export const settingTopics = ['identity', 'time', 'hl7v2', 'fhir', 'images', 'audit', 'feed', 'retention'] as const;
export type SettingTopic = (typeof settingTopics)[number];

interface Stated {
	/** The name on a form. */
	label: string;
	/** Says what the setting decides: one sentence for the API, the documents and the hint on a form. */
	meaning: string;
	topic: SettingTopic;
	of: readonly Holder[];
}

/** One of a few words, each with what it means. */
interface Choice extends Stated {
	kind: 'choice';
	choices: Readonly<Record<string, string>>;
	default: string;
}

interface Switch extends Stated {
	kind: 'switch';
	default: boolean;
}

interface Written extends Stated {
	/** An example of a value, for usage lines and forms. */
	placeholder: string;
	/** Says what is wrong with a text, or with one of a list; undefined when nothing is. */
	fault(text: string): string | undefined;
}

interface Text extends Written {
	kind: 'text';
	/** Says what holds while nobody has set it. */
	otherwise: string;
	/** The variable of the environment that holds then. */
	variable?: string;
}

interface List extends Written {
	kind: 'list';
	default: readonly string[];
	/** Says what an empty list means, which cannot be set: an empty value removes a setting. */
	otherwise?: string;
}

export type SettingDefinition = Choice | Switch | Text | List;

/** The longest text of a setting, and the longest list. Nobody needs more; the access snapshot holds all of them in memory. */
export const settingTextMax = 250;
export const settingListMax = 200;
