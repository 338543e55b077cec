import { billOfMaterials } from './bill-of-materials.ts';

/** Prints the bill of materials as CycloneDX JSON: `npm run -s sbom > tributary.cdx.json`. */
process.stdout.write(`${JSON.stringify(billOfMaterials(), undefined, '\t')}\n`);
