import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { xhtmlFault } from '#fhir/validation/xhtml.ts';

const narrative = (content: string) => `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`;

describe('a narrative may have', () => {
	const cases: [string, string][] = [
		['text alone', 'Seen today'],
		[
			'elements, attributes and comments',
			'<!-- a --><h1 class="a" xml:lang="de">A</h1><table border="1"><tr><td colspan=\'2\'>1<br/></td></tr></table>',
		],
		['character references and the five names of XML', 'A &amp; B &lt;&gt;&quot;&apos; &#160;&#x1F600;'],
		['names of HTML in a text', 'caf&eacute;&nbsp;&copy;'],
		['an image alone', '<img src="#a" alt="a"/>'],
		['a greater-than sign', 'a > b'],
		['the namespace again', '<p xmlns="http://www.w3.org/1999/xhtml">a</p>'],
		['a hundred elements in one another', `${'<b>'.repeat(99)}a${'</b>'.repeat(99)}`],
		[
			'links by the schemes of the web, mail and telephone',
			['http://a', 'HTTPS://a', 'mailto:a@example.org', 'tel:1', 'urn:oid:1.2', 'ftp://a'].map((url) => `<a href="${url}">a</a>`).join(''),
		],
		[
			'relative links, with a colon in their path, query or fragment',
			['#a', 'Patient/1', './a:b', 'a/b:c', '?a=b:c', '#a:b', '//example.org/a', '?a=1&amp;b=2']
				.map((url) => `<a href="${url}">a</a>`)
				.join(''),
		],
		[
			'styles',
			[
				'color: #fff; width: 50%',
				"background: url('data:image/png;base64,AA') no-repeat",
				'background:url(a/b.png)',
				'font-family: "Noto Sans"',
			]
				.map((style) => `<p style='${style.replaceAll("'", '&apos;')}'>a</p>`)
				.join(''),
		],
		['images in place', '<img src="data:image/png;base64,AA" alt="a"/><img src=" data:image/jpeg;base64,AA"/>'],
	];
	for (const [name, content] of cases) {
		test(name, () => {
			assert.equal(xhtmlFault(narrative(content)), undefined);
		});
	}

	test('spaces around it', () => {
		assert.equal(xhtmlFault(` \n${narrative('a')}\n `), undefined);
	});
});

describe('a narrative may not have a URL that runs a script or holds a page:', () => {
	const urls = [
		'javascript:a()',
		'JavaScript:a()',
		' javascript:a()',
		'&#106;avascript:a()',
		'&#x6A;avascript:a()',
		'java&#9;script:a()',
		'java&#xA;script:a()',
		'java\nscript:a()',
		'java\tscript:a()',
		'&#x7f;javascript:a()',
		'javascript&#58;a()',
		'javascript&colon;a()',
		'java&Tab;script&colon;a()',
		'vbscript:a()',
		'data:text/html,a',
		'data:text/html;base64,AA',
		'&#100;ata:text/html,a',
		'data:image/svg+xml;base64,AA',
		'data:image/png;base64,AA',
		'file:///etc/passwd',
		'blob:a',
		'unknown:a',
	];
	for (const url of urls) {
		test(JSON.stringify(url), () => {
			assert.match(xhtmlFault(narrative(`<a href="${url}">a</a>`)) ?? '', /has a URL/);
			assert.match(xhtmlFault(narrative(`<q cite='${url}'>a</q>`)) ?? '', /has a URL/);
			if (!url.startsWith('data:image/png')) assert.match(xhtmlFault(narrative(`<img src="${url}"/>`)) ?? '', /has a URL/);
		});
	}
});

describe('a narrative may not have a style that runs a script:', () => {
	for (const style of [
		'background:url(javascript:a())',
		"background: URL( 'java&#9;script:a()' )",
		'background:u\\72l(javascript:a())',
		'background:url(java/**/script:a())',
		'background:url(data:text/html,a)',
		'background:url(data:image/svg+xml;base64,AA)',
		'width:expression(a())',
		'width:exp/* a */ression(a())',
		'behavior:url(#a)',
		'-moz-binding:url(http://example.org/a.xml#a)',
		'@import url(a.css)',
	]) {
		test(style, () => assert.match(xhtmlFault(narrative(`<p style="${style}">a</p>`)) ?? '', /has a style/));
	}
});

describe('not well-formed, or not the XHTML of a narrative, is', () => {
	const cases: [string, string, RegExp][] = [
		['no div', '<p xmlns="http://www.w3.org/1999/xhtml">a</p>', /one div/],
		['a div without namespace', '<div>a</div>', /one div/],
		['a div of another namespace', '<div xmlns="http://www.w3.org/2000/svg">a</div>', /one div/],
		['an element of another namespace', narrative('<p xmlns="http://www.w3.org/2000/svg">a</p>'), /one div/],
		['two divs', `${narrative('a')}${narrative('b')}`, /well-formed/],
		['text behind the div', `${narrative('a')}b`, /well-formed/],
		['a comment behind the div', `${narrative('a')}<!-- b -->`, /well-formed/],
		['nothing', narrative(''), /txt-2/],
		['white space', narrative(' <p>\n\t</p> '), /txt-2/],
		['a comment alone', narrative('<!-- a -->'), /txt-2/],
		['a comment that ends at once to a browser', narrative('a<!--><img src="#"/>-->'), /well-formed/],
		['the same with a hyphen', narrative('a<!---><img src="#"/>-->'), /well-formed/],
		['two hyphens in a comment', narrative('a<!-- a --!> b -->'), /well-formed/],
		['a section of character data', narrative('<![CDATA[a]]>'), /well-formed/],
		['a processing instruction', narrative('<?php a ?>a'), /well-formed/],
		['a document type', narrative('<!DOCTYPE html><p>a</p>'), /well-formed/],
		['tags that cross', narrative('<b><i>a</b></i>'), /well-formed/],
		['a tag that does not end', narrative('<p>a'), /well-formed/],
		['an attribute without quotes', narrative('<p class=a>a</p>'), /well-formed/],
		['an attribute without value', narrative('<p class>a</p>'), /well-formed/],
		['an attribute twice', narrative('<p class="a" class="b">a</p>'), /well-formed/],
		['a less-than sign in an attribute', narrative('<p title="<">a</p>'), /well-formed/],
		['an ampersand alone', narrative('a & b'), /well-formed/],
		['a reference to no character', narrative('&#0;'), /well-formed/],
		['a reference that does not end', narrative('&amp a'), /well-formed/],
		['a form', narrative('<form>a</form>'), /has an element/],
		['an element in capitals', narrative('<P>a</P>'), /has an element/],
		['an element with a prefix', narrative('<x:p>a</x:p>'), /has an element/],
		['an event', narrative('<p onclick="a()">a</p>'), /has an attribute/],
		['an attribute of an object’s prototype', narrative('<p constructor="a">a</p>'), /has an attribute/],
		['a hundred and one elements in one another', narrative(`${'<b>'.repeat(100)}a${'</b>'.repeat(100)}`), /nested/],
	];
	for (const [name, source, expected] of cases) {
		test(name, () => {
			assert.match(xhtmlFault(source) ?? '', expected);
		});
	}

	test('said without a word of the narrative', () => {
		for (const [, source] of cases) assert.doesNotMatch(xhtmlFault(source) ?? '', /onclick|form\b|php|svg/i);
	});
});
