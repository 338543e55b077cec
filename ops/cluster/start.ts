/** Starts the cluster of this folder on this machine and keeps it until Ctrl-C: `npm run cluster`. Its data are removed at the end. */
import { Cluster } from './cluster.ts';

const cluster = await Cluster.start({ nodes: 3, told: (line) => console.log(line) });
console.log(`\nPgBouncer ${cluster.pooling.version}, pooling=${cluster.pooling.pooling}. Files and logs: ${cluster.folder}`);
for (const [surface, port] of Object.entries(cluster.ports)) console.log(`${surface.padEnd(6)} 127.0.0.1:${port}`);
for (const { part, ports } of cluster.nodes)
	console.log(`${part.name}  console http://127.0.0.1:${ports['admin']}  metrics http://127.0.0.1:${ports['ops']}/metrics`);
console.log(`the database leads on ${(await cluster.leader())?.part.name}. Ctrl-C ends all of it.`);
await new Promise((resolve) => {
	for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
});
console.log('ending');
await cluster[Symbol.asyncDispose]();
