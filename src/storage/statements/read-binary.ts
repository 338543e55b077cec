import type { ReadStatement } from '../reader.ts';

/** Reads the facts about a Binary, without its bytes. */
export const readBinaryHead: ReadStatement = {
	name: 'read_binary_head',
	text: `
select b.content_type, b.document_id, octet_length(b.bytes), to_char(b.last_updated at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
from binary_content b where b.site_id = $1 and b.id = $2`,
};

/** Reads a piece of its bytes in base64: $4 bytes from $3 on, counted from 1. */
export const readBinaryPiece: ReadStatement = {
	name: 'read_binary_piece',
	text: `
select translate(encode(substring(b.bytes from $3::integer for $4::integer), 'base64'), E'\\n', '')
from binary_content b where b.site_id = $1 and b.id = $2`,
};
