import type { RuleGroup } from '../rule.ts';

/** Alerts about whoever sends, and how the service knows them. */
export const sendersRules: RuleGroup = {
	name: 'tributary-senders',
	rules: [
		{
			name: 'TributaryFeedSilent',
			severity: 'warning',
			for: '0m',
			text: 'max by (site) (tributary_silent_feeds) > 0',
			summary: 'feeds of {{ $labels.site }} are silent',
			description: 'They have sent nothing for three times their longest usual pause at this hour, or for the time set as silent_after.',
			runbook:
				'A client or key that usually sends has sent nothing for three times the 99th percentile of its pauses in this hour of the week, or for the time of its setting `silent_after`. `tributary feed list --state silent` names it and when it was last heard. Ask whether the sender runs, then look at the network between. `tributary client set <id> --silent-after 8h` sets another time; `tributary feed pause <id>` says that the silence is wanted.',
			list: '/?site={{ $labels.site }}',
		},
		{
			name: 'TributaryUnmatchedMessages',
			severity: 'warning',
			for: '0m',
			text: 'sum by (instance, reason) (increase(tributary_unmatched_messages_total[15m])) > 0',
			summary: 'no matching site for messages on {{ $labels.instance }}: {{ $labels.reason }}',
			words: {
				reason: {
					'no-sender': 'MSH-3 and MSH-4 match no client with the address',
					tie: 'clients of several sites match equally well',
					called: 'no site has the called AE title',
					calling: 'no client of the site has the calling AE title and address',
				},
			},
			description: 'MSH-3 and MSH-4, or the AE titles, match no integration client with the address, or clients of two sites.',
			runbook:
				'MSH-3 and MSH-4 fit no integration client of the address, or they fit clients of two sites. A client is missing its address or its sending application and facility, or two sites list the same. The log of unmatched traffic has the messages.',
			list: '/unmatched',
		},
		{
			name: 'TributaryUnmatchedDropped',
			severity: 'warning',
			for: '0m',
			text: 'increase(tributary_unmatched_messages_total{result="dropped"}[15m]) > 0',
			summary: 'unmatched messages of {{ $labels.instance }} are not logged',
			description: 'They exceed UNMATCHED_MESSAGES_MAX or UNMATCHED_BYTES_MAX, or the database refused them.',
			runbook:
				'More unmatched messages came than UNMATCHED_MESSAGES_MAX or UNMATCHED_BYTES_MAX holds, or the database refused them. Their senders were answered AE and still have them. Correct the client; raise the limits only if the flood is wanted.',
			list: '/unmatched',
		},
		{
			name: 'TributaryConnectionsRefused',
			severity: 'warning',
			for: '10m',
			text: 'sum by (instance, result) (rate(tributary_mllp_connections_total{result=~"refused-.*"}[10m])) > 0.1',
			summary: 'connections to {{ $labels.instance }} are refused: {{ $labels.result }}',
			words: {
				result: {
					'refused-address': 'no client lists the address',
					'refused-limit': 'the service has as many as it may have',
					'refused-address-limit': 'an address has as many as it may have',
					'refused-client-limit': 'a client has as many as it may have',
					'refused-site-limit': 'a site has as many as it may have',
					'refused-proxy': 'the PROXY header is missing or wrong',
					'refused-tls': 'the certificate of the sender is missing or not the one of its client',
				},
			},
			description: 'No client lists the address, a certificate or PROXY header is missing, or the connection limit is reached.',
			runbook:
				'Connections are refused because of an address that no client lists, a missing certificate or PROXY header, or the connection limit. `refused-address`: add the address to the client, or block it. `refused-limit`: raise MLLP_CONNECTIONS_MAX. `refused-address-limit`, `refused-client-limit`, `refused-site-limit`: see the [shares](#shares). `refused-tls`: check the certificate of the sender. `refused-proxy`: TRUSTED_PROXIES and the balancer disagree.',
			list: '/clients',
		},
		{
			name: 'TributaryFrameErrors',
			severity: 'warning',
			for: '0m',
			text: 'sum by (instance, reason) (increase(tributary_mllp_frame_errors_total[15m])) > 10',
			summary: 'broken MLLP frames on {{ $labels.instance }}: {{ $labels.reason }}',
			words: {
				reason: {
					timeout: 'the rest of a message did not come in time',
					unfinished: 'the connection ended within a message',
					'too-long': 'a message is longer than MLLP_FRAME_BYTES_MAX',
					restarted: 'a message began before the one before it had ended',
					empty: 'a frame has nothing in it',
				},
			},
			description: 'A sender breaks off within a message, or sends frames longer than MLLP_FRAME_BYTES_MAX.',
			runbook:
				'A sender breaks off within a message, or sends frames longer than MLLP_FRAME_BYTES_MAX. `timeout` and `unfinished`: the network or the sender breaks off. `too-long`: raise MLLP_FRAME_BYTES_MAX if such messages are wanted. `restarted` and `empty`: the sender is faulty.',
			list: '/clients',
		},
		{
			name: 'TributaryKeysExpiring',
			severity: 'warning',
			for: '5m',
			text: 'max by (job) (tributary_api_keys_expiring) > 0',
			summary: 'API keys expire soon',
			description: '`tributary key list` names them with a warning. `tributary key rotate` gives each a successor.',
			runbook:
				'API keys are in the last quarter of their life, and expire within two weeks. `tributary key list` names them with a `warning`. Give each a successor with `tributary key rotate <key-id>`, which leaves both valid for a week, or a later date with `tributary key set <key-id> --expires`.',
			list: '/keys',
		},
		{
			name: 'TributaryKeysRefused',
			severity: 'warning',
			for: '10m',
			text: 'sum by (instance) (rate(tributary_access_refusals_total{protocol="http", reason=~"key|token"}[10m])) > 1',
			summary: 'node {{ $labels.instance }} refuses API keys or access tokens',
			description: 'A revoked key or a token of an unknown issuer is still in use, or somebody is guessing keys.',
			runbook:
				'A revoked key, or a token of an issuer that no site trusts, is still in use, or somebody tries keys. The log has the addresses. Guessing a key is hopeless, so a forgotten sender is more likely.',
			list: '/keys',
		},
	],
};
