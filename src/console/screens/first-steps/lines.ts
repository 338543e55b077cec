/** A newcomer pastes these lines into a shell to send something. The patients are made up. */

export interface Place {
	/** The host name by which the browser reaches the console. */
	host: string;
	port: string;
}

const message = (delimiter: string, type: string, rest: string) =>
	`MSH|^~${delimiter}&|FIRST|STEPS|||20260105||${type}|1|P|2.5.1\\r${rest}`;
const admission = (delimiter: string) => message(delimiter, 'ADT^A01', 'PID|1||4711^^^MRN||Rivers^Alba||19810612|F\\r');

/** One HL7 v2 message over HTTP, with an API key. */
export function httpLine({ host, port }: Place, key: string): string {
	const send = `curl -s -H 'X-API-Key: ${key}' -H 'Content-Type: text/plain' --data-binary @- http://${host}:${port}/v2/ingest`;
	return `printf '${admission('\\\\')}' | ${send}`;
}

/** One HL7 v2 message over MLLP; bash itself opens the connection. */
export function mllpLine({ host, port }: Place): string {
	const framed = `\\x0b${admission('\\\\\\\\')}\\x1c\\r`;
	return `bash -c 'exec 3<>/dev/tcp/${host}/${port}; printf "${framed}" >&3; timeout 2 cat <&3 | tr "\\r" "\\n"'`;
}

/** One image by C-STORE, with DCMTK. The first line makes a sample in a checkout; any DICOM file will do. */
export function dicomLine({ host, port }: Place, called: string, calling: string): string {
	return `npm run -s sample-image -- --study 1.2.826.0.1.2 > image.dcm\nstorescu -v -aet ${calling} -aec ${called} ${host} ${port} image.dcm`;
}
