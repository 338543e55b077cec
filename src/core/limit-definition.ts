export interface LimitDefinition {
	variable: string;
	default: number;
	min: number;
	max: number;
	answer: string;
}
