import { changes } from './changes.ts';
import { databaseFaults } from './database.ts';
import type { Fault } from './definition.ts';
import { kills } from './kills.ts';
import { lineFaults } from './lines.ts';

export const faults: readonly Fault[] = [...kills, ...lineFaults, ...databaseFaults, ...changes];
