/*
 * The yardstick in C: the same fields as bench/micro/hl7-parse.ts takes, found with memchr, not decoded and not copied.
 * usage: memchr <file> <milliseconds>; the file holds 32-bit little-endian lengths, each before its message.
 * prints messages per second and the sum of the lengths of all values of one round.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { const char *at, *end; } Span;
typedef struct { int field, component; } Place;

static const Place patient[] = {{3, 1}, {3, 4}, {3, 5}, {5, 1}, {5, 2}, {5, 3}, {7, 1}, {8, 1}, {11, 1}, {11, 3}, {11, 4}, {11, 5}, {13, 1}, {14, 1}};
static const Place visit[] = {{2, 1}, {3, 1}, {7, 1}, {7, 2}, {19, 1}};
static const Place observation[] = {{2, 1}, {3, 1}, {3, 2}, {3, 3}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {11, 1}, {14, 1}};
static const Place header[] = {{9, 1}, {9, 2}, {10, 1}};
#define COUNT(list) (sizeof(list) / sizeof(list[0]))

/* Cuts span at the first delimiter. */
static Span until(Span span, char delimiter) {
	const char *found = memchr(span.at, delimiter, (size_t)(span.end - span.at));
	return (Span){span.at, found ? found : span.end};
}

static size_t extract(Span line, int shift, const Place *places, size_t count) {
	size_t total = 0;
	const char *at = line.at;
	int number = -shift;
	Span field = {line.at, line.at};
	for (size_t index = 0; index < count; index++) {
		while (number < places[index].field - 2 * shift + 1 && at <= line.end) {
			field = until((Span){at, line.end}, '|');
			at = field.end + 1;
			number++;
		}
		if (number < places[index].field - 2 * shift + 1) continue;
		Span rest = until(field, '~');
		Span part = until(rest, '^');
		for (int component = 1; component < places[index].component; component++) {
			if (part.end >= rest.end) { part.at = part.end = rest.end; break; }
			part = until((Span){part.end + 1, rest.end}, '^');
		}
		part = until(part, '&');
		total += (size_t)(part.end - part.at);
	}
	return total;
}

static size_t parse(const char *message, size_t length) {
	size_t total = 0;
	Span all = {message, message + length};
	while (all.at < all.end) {
		Span line = until(all, '\r');
		all.at = line.end + 1;
		if (line.end - line.at < 4) continue;
		if (!memcmp(line.at, "MSH", 3)) total += extract(line, 1, header, COUNT(header));
		else if (!memcmp(line.at, "PID", 3)) total += extract(line, 0, patient, COUNT(patient));
		else if (!memcmp(line.at, "PV1", 3)) total += extract(line, 0, visit, COUNT(visit));
		else if (!memcmp(line.at, "OBX", 3)) total += extract(line, 0, observation, COUNT(observation));
	}
	return total;
}

static double seconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	FILE *file = fopen(argv[1], "rb");
	if (!file) return 2;
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	char *data = malloc((size_t)size);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) return 2;
	fclose(file);
	double limit = atof(argv[2]) / 1000, begin = seconds(), elapsed = 0;
	size_t sum = 0;
	unsigned long done = 0;
	do {
		sum = 0;
		for (long at = 0; at < size;) {
			uint32_t length;
			memcpy(&length, data + at, 4);
			sum += parse(data + at + 4, length);
			at += 4 + (long)length;
			done++;
		}
		elapsed = seconds() - begin;
	} while (elapsed < limit);
	printf("%.0f %zu\n", (double)done / elapsed, sum);
	free(data);
	return 0;
}
