import { loadServer } from '../../src/surfaces/http/load.ts';

/** The yardstick of a read: the same server library, answering the same bytes from memory. */
const [, , text = ''] = process.argv;
const app = loadServer().uws.App();
app.any('/*', (response) => {
	response.cork(() => {
		response.writeStatus('200 OK').writeHeader('Content-Type', 'application/fhir+json; fhirVersion=4.0; charset=utf-8').end(text);
	});
});
app.listen('127.0.0.1', 0, (socket) => {
	if (!socket) throw new Error('the static server cannot listen');
	console.log(loadServer().uws.us_socket_local_port(socket));
});
