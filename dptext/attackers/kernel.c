/* The loops of dptext.attackers in C, which dptext/attackers/kernel.py calls.

Every function gives the bytes of its numpy counterpart, on every machine: sums are made
one term after the other, without fused multiplication (-ffp-contract=off), and all else
is exact. Arrays are word by word: (n, c) has the c numbers of a word side by side.
Nothing is allocated, and nothing is kept from one call to the next. */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* Loops stay as they stand here: the inner ones are made to be vectors. */
#pragma GCC optimize("no-loop-interchange", "no-loop-unroll-and-jam")
#endif

#if FLT_EVAL_METHOD != 0
#error "this compiler does not round each sum to single precision"
#endif

/* CLONES: one copy of a function for each kind of processor, chosen when it is loaded. */
#ifdef CLONES
#define EXPORT                                                                          \
    __attribute__((visibility("default"),                                               \
                   target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define INLINE static inline __attribute__((always_inline))

/* The most candidates of a word: `candidates` of a decoder's settings is at most this. */
#define MOST 256
/* The lowest score of a path, as dptext.attackers.posterior.NEVER. */
#define NEVER (-(1 << 28))

/* ---- Gains of pairs of words (dptext.attackers.ngrams) ---- */

/* A square of codes; or with ends, for each row of a model the words that follow it, in
order, and their codes. */
typedef struct {
    const int8_t *codes;
    int64_t width;
    const int64_t *ends;
    const int32_t *following;
} Table;

INLINE int8_t code_of(Table table, int32_t first, int32_t second)
{
    if (!table.ends) return table.codes[first * table.width + second];
    int64_t at = first ? table.ends[first - 1] : 0, count = table.ends[first] - at;
    while (count > 1) {
        int64_t half = count / 2;
        if (table.following[at + half] <= second) at += half;
        count -= half;
    }
    return count && table.following[at] == second ? table.codes[at] : 0;
}

INLINE float gain_of(int8_t code)
{
    int32_t bits = code * (1 << 20) + 0x3F800000;
    float gain;
    memcpy(&gain, &bits, sizeof gain);
    return gain;
}

/* ---- Posterior probabilities ---- */

/* Divides weights (c,), none below 0, by the largest. */
INLINE void scale(float *weights, int64_t c)
{
    int32_t bits[MOST], most = 0;
    float largest;
    /* Numbers of single precision from 0 are ordered as their bits are. */
    memcpy(bits, weights, c * sizeof *bits);
    for (int64_t i = 0; i < c; i++) most = bits[i] > most ? bits[i] : most;
    memcpy(&largest, &most, sizeof largest);
    for (int64_t i = 0; i < c; i++) weights[i] /= largest;
}

INLINE void chain_posterior(int64_t length, int64_t c, int32_t before, int32_t after,
                            const int32_t *slots, const float *weights,
                            const float *backoff, Table table, int8_t *restrict codes,
                            float *restrict posterior)
{
    float beside[MOST], sums[MOST];
    for (int64_t i = 0; i < c; i++)
        posterior[i] = gain_of(code_of(table, before, slots[i])) * weights[i];
    scale(posterior, c);
    for (int64_t t = 1; t < length; t++) {
        const int32_t *contexts = slots + (t - 1) * c, *words = slots + t * c;
        int8_t *pairs = codes + t * c * c;
        float *forward = posterior + t * c;
        for (int64_t i = 0; i < c; i++)
            for (int64_t j = 0; j < c; j++)
                pairs[i * c + j] = code_of(table, contexts[i], words[j]);
        for (int64_t j = 0; j < c; j++) sums[j] = 0.0f;
        for (int64_t i = 0; i < c; i++) {
            float from = forward[i - c] * backoff[(t - 1) * c + i];
            for (int64_t j = 0; j < c; j++) sums[j] += gain_of(pairs[i * c + j]) * from;
        }
        for (int64_t j = 0; j < c; j++) sums[j] *= weights[t * c + j];
        scale(sums, c);
        memcpy(forward, sums, c * sizeof *sums);
    }
    for (int64_t i = 0; i < c; i++)
        sums[i] = gain_of(code_of(table, slots[(length - 1) * c + i], after)) *
                  backoff[(length - 1) * c + i];
    for (int64_t t = length - 1; t >= 0; t--) {
        float *likely = posterior + t * c, total = 0.0f;
        if (t < length - 1) {
            const int8_t *pairs = codes + (t + 1) * c * c;
            for (int64_t j = 0; j < c; j++) beside[j] = sums[j] * weights[(t + 1) * c + j];
            for (int64_t i = 0; i < c; i++) sums[i] = 0.0f;
            for (int64_t j = 0; j < c; j++)
                for (int64_t i = 0; i < c; i++)
                    sums[i] += gain_of(pairs[i * c + j]) * beside[j];
            for (int64_t i = 0; i < c; i++) sums[i] *= backoff[t * c + i];
            scale(sums, c);
        }
        for (int64_t i = 0; i < c; i++) likely[i] *= sums[i];
        for (int64_t i = 0; i < c; i++) total += likely[i];
        for (int64_t i = 0; i < c; i++) likely[i] /= total;
    }
}

/* Returns where the chain that begins at a word ends; before (n,) is below 0 inside. */
INLINE int64_t end_of(const int32_t *before, int64_t begin, int64_t n)
{
    int64_t end = begin + 1;
    while (end < n && before[end] < 0) end++;
    return end;
}

INLINE void chain_posteriors(int64_t n, int64_t c, const int32_t *before,
                             const int32_t *after, const int32_t *slots,
                             const float *weights, const float *backoff, Table gains,
                             int8_t *codes, float *posterior)
{
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = end_of(before, begin, n);
        int64_t at = begin * c;
        /* The usual numbers, of decoders and of attackers, as constants: faster loops. */
        if (c == 16)
            chain_posterior(end - begin, 16, before[begin], after[end - 1], slots + at,
                            weights + at, backoff + at, gains, codes, posterior + at);
        else if (c == 40)
            chain_posterior(end - begin, 40, before[begin], after[end - 1], slots + at,
                            weights + at, backoff + at, gains, codes, posterior + at);
        else
            chain_posterior(end - begin, c, before[begin], after[end - 1], slots + at,
                            weights + at, backoff + at, gains, codes, posterior + at);
    }
}

/* before, after (n,) slots; codes (longest, c, c) is scratch -> posterior (n, c). */
EXPORT void marginals(int64_t n, int64_t c, const int32_t *before, const int32_t *after,
                      const int32_t *slots, const float *weights, const float *backoff,
                      const int8_t *table, int64_t width, int8_t *codes,
                      float *posterior)
{
    Table gains = {table, width, 0, 0};
    chain_posteriors(n, c, before, after, slots, weights, backoff, gains, codes,
                     posterior);
}

/* The same with all pairs of a model of rows: ends (rows,), following and pairs (m,). */
EXPORT void marginals_of_all(int64_t n, int64_t c, const int32_t *before,
                             const int32_t *after, const int32_t *slots,
                             const float *weights, const float *backoff,
                             const int64_t *ends, const int32_t *following,
                             const int8_t *pairs, int8_t *codes, float *posterior)
{
    Table gains = {pairs, 0, ends, following};
    chain_posteriors(n, c, before, after, slots, weights, backoff, gains, codes,
                     posterior);
}

/* ---- The best path ---- */

INLINE int64_t first_largest(const int32_t *scores, int64_t c)
{
    int64_t best = 0;
    for (int64_t i = 1; i < c; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}

INLINE void chain_path(int64_t length, int64_t c, int32_t before, int32_t after,
                       const int32_t *slots, const int32_t *scores,
                       const int32_t *backoff, const int32_t *logs, Table table,
                       uint8_t *restrict origins, int64_t *restrict chosen)
{
    int32_t best[MOST], into[MOST], gains[MOST], origin[MOST];
    for (int64_t i = 0; i < c; i++)
        best[i] = scores[i] + logs[(uint8_t)code_of(table, before, slots[i])];
    for (int64_t t = 1; t < length; t++) {
        const int32_t *contexts = slots + (t - 1) * c, *words = slots + t * c;
        int32_t most = INT32_MIN;
        for (int64_t j = 0; j < c; j++) into[j] = INT32_MIN, origin[j] = 0;
        for (int64_t i = 0; i < c; i++) {
            int32_t from = best[i] + backoff[(t - 1) * c + i];
            for (int64_t j = 0; j < c; j++)
                gains[j] = logs[(uint8_t)code_of(table, contexts[i], words[j])];
            for (int64_t j = 0; j < c; j++) {
                int32_t way = gains[j] + from, better = way > into[j];
                into[j] = better ? way : into[j];
                origin[j] = better ? (int32_t)i : origin[j];
            }
        }
        for (int64_t j = 0; j < c; j++) {
            best[j] = scores[t * c + j] + into[j];
            origins[t * c + j] = (uint8_t)origin[j];
        }
        /* Long chains stay in range; a word without any way in is never chosen. */
        for (int64_t j = 0; j < c; j++) most = best[j] > most ? best[j] : most;
        for (int64_t j = 0; j < c; j++) {
            best[j] -= most;
            best[j] = best[j] < NEVER ? NEVER : best[j];
        }
    }
    for (int64_t i = 0; i < c; i++)
        best[i] += logs[(uint8_t)code_of(table, slots[(length - 1) * c + i], after)] +
                   backoff[(length - 1) * c + i];
    chosen[length - 1] = first_largest(best, c);
    for (int64_t t = length - 1; t > 0; t--)
        chosen[t - 1] = origins[t * c + chosen[t]];
}

/* logs (256,) score of each code, read without sign; origins (longest, c) is scratch
-> chosen (n,). */
EXPORT void viterbi(int64_t n, int64_t c, const int32_t *before, const int32_t *after,
                    const int32_t *slots, const int32_t *scores, const int32_t *backoff,
                    const int32_t *logs, const int8_t *table, int64_t width,
                    uint8_t *origins, int64_t *chosen)
{
    Table gains = {table, width, 0, 0};
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = end_of(before, begin, n);
        int64_t at = begin * c;
        if (c == 8)
            chain_path(end - begin, 8, before[begin], after[end - 1], slots + at,
                       scores + at, backoff + at, logs, gains, origins, chosen + begin);
        else
            chain_path(end - begin, c, before[begin], after[end - 1], slots + at,
                       scores + at, backoff + at, logs, gains, origins, chosen + begin);
    }
}

/* ---- Candidates ---- */

/* Writes where the k largest of weights (c,), none below 0, stand, in order of place, the
first of equal ones; columns has room for k + 1. */
INLINE void largest_of(const float *weights, int64_t c, int64_t k, int32_t *columns)
{
    int32_t bits[MOST], places[MOST], larger[MOST];
    memcpy(bits, weights, c * sizeof *bits);
    for (int64_t i = 0; i < c; i++) places[i] = (int32_t)i;
    for (int64_t i = 0; i < c; i++) larger[i] = 0;
    for (int64_t j = 0; j < c; j++)
        for (int64_t i = 0; i < c; i++)
            larger[i] += bits[j] + (places[j] < places[i]) > bits[i];
    for (int64_t i = 0, kept = 0; i < c; i++) {
        columns[kept] = places[i];
        kept += larger[i] < k;
    }
}

/* Rounds to the nearest whole number, below 2^22. */
INLINE float nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

/* Adds up the directions (V + 1, d) of the words of each text -> sums (texts, d), and
counts (texts,) of those that count. */
EXPORT void topic_sums(int64_t n, int64_t d, const int32_t *drawn, const int64_t *texts,
                       const int16_t *directions, const float *worth, double *sums,
                       int64_t *counts)
{
    for (int64_t i = 0; i < n; i++) {
        const int16_t *direction = directions + drawn[i] * d;
        float weight = worth[drawn[i]];
        double *sum = sums + texts[i] * d;
        if (weight <= 0.0f) continue;
        counts[texts[i]]++;
        for (int64_t a = 0; a < d; a++) sum[a] += direction[a] * weight;
    }
}

/* The length of a direction, and the other words by which a topic is half as long as
with very many, as in dptext.attackers.pairs. */
#define LENGTH 1000.0f
#define FEW 3.0f

/* The topic (d,) of a word from the other words of its text, whose directions add up to
sum (d,) with its own; mean (d,) is scratch. */
INLINE void topic_of(int64_t d, const int16_t *direction, float worth, const double *sum,
                     int64_t count, float *restrict mean, int16_t *restrict topic)
{
    float others = (float)(count - (worth > 0.0f));
    float share = (1.0f / 16.0f) / (others < 1.0f ? 1.0f : others);
    int32_t squares = 0;
    for (int64_t a = 0; a < d; a++)
        mean[a] = nearest(((float)sum[a] - direction[a] * worth) * share);
    for (int64_t a = 0; a < d; a++) squares += (int32_t)mean[a] * (int32_t)mean[a];
    float length = sqrtf((float)squares);
    float weight = LENGTH * others / ((others + FEW) * (length < 1.0f ? 1.0f : length));
    for (int64_t a = 0; a < d; a++) topic[a] = (int16_t)nearest(mean[a] * weight);
}

INLINE int32_t product(int64_t d, const int16_t *one, const int16_t *other)
{
    int32_t sum = 0;
    for (int64_t a = 0; a < d; a++) sum += one[a] * other[a];
    return sum;
}

/* Weighs the c candidates of words by themselves and by the topic of their texts, and
keeps the k that weigh most. Of n words those at positions (m,): rows, writable, weights
(O, c) of the outputs of a channel. Directions (V + 1, d), worth, sums and counts are
those of the topic, factors (steps,) by the cosine in steps, scale; d is 0 without a topic.
slot_of, backoff (V + 1,). mean, topic (d,) are scratch -> (n, k) each. */
EXPORT void weigh(int64_t m, const int64_t *positions, const int32_t *drawn,
                  const int64_t *texts, int64_t c, int64_t k, const int32_t *rows,
                  const uint8_t *writable, const float *weights, int64_t d,
                  const int16_t *directions, const float *worth, const double *sums,
                  const int64_t *counts, const float *factors, int64_t steps, float scale,
                  float *mean, int16_t *topic, const int32_t *slot_of,
                  const float *backoff, int32_t *kept_rows, int32_t *kept_columns,
                  uint8_t *kept_writable, int32_t *kept_slots, float *kept_weights,
                  float *kept_backoff)
{
    float weighed[MOST];
    int32_t columns[MOST + 1];
    for (int64_t p = 0; p < m; p++) {
        int64_t at = positions[p], output = drawn[at] * c;
        memcpy(weighed, weights + output, c * sizeof *weighed);
        if (d) {
            topic_of(d, directions + drawn[at] * d, worth[drawn[at]], sums + texts[at] * d,
                     counts[texts[at]], mean, topic);
            for (int64_t i = 0; i < c; i++) {
                const int16_t *direction = directions + rows[output + i] * d;
                int32_t cosine = d == 64 ? product(64, direction, topic) : product(d, direction, topic);
                int64_t step = (int64_t)nearest((float)cosine * scale) + steps / 2;
                step = step < 0 ? 0 : step >= steps ? steps - 1 : step;
                weighed[i] *= factors[step];
            }
        }
        if (c == 32)
            largest_of(weighed, 32, k, columns);
        else
            largest_of(weighed, c, k, columns);
        for (int64_t i = 0; i < k; i++) {
            int32_t column = columns[i], row = rows[output + column];
            kept_rows[at * k + i] = row;
            kept_columns[at * k + i] = column;
            kept_writable[at * k + i] = writable[output + column];
            kept_slots[at * k + i] = slot_of[row];
            kept_weights[at * k + i] = weighed[column];
            kept_backoff[at * k + i] = backoff[row];
        }
    }
}

/* ---- Closeness ---- */

INLINE void word_closeness(int64_t c, int64_t k, const int32_t *columns,
                           const int8_t *closeness, const float *likely, float steps,
                           float *expected)
{
    float sums[MOST];
    for (int64_t j = 0; j < c; j++) sums[j] = 0.0f;
    for (int64_t i = 0; i < k; i++) {
        const int8_t *near = closeness + columns[i] * c;
        for (int64_t j = 0; j < c; j++) sums[j] += near[j] * likely[i];
    }
    for (int64_t i = 0; i < k; i++) expected[i] = sums[columns[i]] / steps;
}

/* The sum of likely (n, k) times closeness (O, c, c) of the kept candidates of words, of
n words those at positions (m,) -> expected (n, k). */
EXPORT void expected_closeness(int64_t m, const int64_t *positions, const int32_t *drawn,
                               int64_t c, int64_t k, const int32_t *columns,
                               const int8_t *closeness, const float *likely,
                               float steps, float *expected)
{
    for (int64_t p = 0; p < m; p++) {
        int64_t at = positions[p] * k;
        const int8_t *near = closeness + drawn[positions[p]] * c * c;
        if (c == 32 && k == 16)
            word_closeness(32, 16, columns + at, near, likely + at, steps, expected + at);
        else
            word_closeness(c, k, columns + at, near, likely + at, steps, expected + at);
    }
}

/* Keeps the k closest of the c candidates of each word, and scores them: worth (n, c) is
their closeness plus 2, 0 for words that may not be written; rows (n, c); alone, backoff
(V + 1,) scores of rows; nat is a nat as a score -> (n, k) each. */
EXPORT void closest(int64_t n, int64_t c, int64_t k, const float *worth,
                    const int32_t *rows, double fluency, double nat,
                    const int32_t *slot_of, const int32_t *alone, const int32_t *backoff,
                    int32_t *kept_rows, int32_t *kept_slots, int32_t *kept_scores,
                    int32_t *kept_backoff)
{
    int32_t columns[MOST + 1];
    for (int64_t t = 0; t < n; t++) {
        if (c == 16)
            largest_of(worth + t * 16, 16, k, columns);
        else
            largest_of(worth + t * c, c, k, columns);
        for (int64_t i = 0; i < k; i++) {
            int64_t from = t * c + columns[i], to = t * k + i;
            int32_t row = rows[from];
            double score = worth[from] > 0.0f ? worth[from] / fluency * nat : NEVER;
            kept_rows[to] = row;
            kept_slots[to] = slot_of[row];
            kept_scores[to] = (int32_t)rint(score) + alone[row];
            kept_backoff[to] = backoff[row];
        }
    }
}

/* ---- Words that fit their context ---- */

/* Words that may be written beside a context, list after list: list i ends at ends[i]. */
typedef struct {
    const int32_t *ends;
    const int32_t *rows;
    const int8_t *codes;
} Lists;

/* The candidates of a word, and the score of each by its lists. */
typedef struct {
    int32_t rows[MOST];
    int64_t count;
    int32_t *scores;
    uint8_t *known;
} Fitting;

INLINE void add_candidate(Fitting *fitting, int32_t row, int32_t score)
{
    if (fitting->known[row]) {
        fitting->scores[row] += score;
    } else if (fitting->count < MOST) {
        fitting->known[row] = 1;
        fitting->scores[row] = score;
        fitting->rows[fitting->count++] = row;
    }
}

INLINE void add_list(Fitting *fitting, Lists lists, int64_t list, const int32_t *logs)
{
    for (int32_t at = list ? lists.ends[list - 1] : 0; at < lists.ends[list]; at++)
        add_candidate(fitting, lists.rows[at], logs[(uint8_t)lists.codes[at]]);
}

/* Twelve bits that a drawn word and a candidate decide. */
INLINE uint32_t noise_of(int32_t drawn, int32_t row)
{
    uint32_t bits = (uint32_t)drawn * 2654435761u ^ ((uint32_t)row * 2246822519u + 374761393u);
    bits = (bits ^ bits >> 15) * 2246822507u;
    bits = (bits ^ bits >> 13) * 3266489909u;
    return (bits ^ bits >> 16) >> 20;
}

/* Writes for each of n drawn words the word that fits best, one after the other, as
dptext.decoders.context: before, after (n,) rows of contexts, below 0 beside a drawn word;
kinds (n,) below width; lists of contexts and kinds, the last context for words that have
few candidates; logs (256,) score of each code; alone, backoff (rows,); c candidates by
the draw (n, c), below 0 for none, with scores; a topic as in `weigh`, a step of it and a
repeated word score so much; noise (4096,); scores, known, seen (rows,) are scratch, 0, 0
and -1 -> written (n,). */
EXPORT void fill(int64_t n, const int32_t *before, const int32_t *after,
                 const int32_t *drawn, const int64_t *texts, const uint8_t *kinds,
                 int64_t width, int64_t contexts, int64_t few, const int32_t *next_ends,
                 const int32_t *next_rows, const int8_t *next_codes,
                 const int32_t *last_ends, const int32_t *last_rows,
                 const int8_t *last_codes, const int32_t *logs, const int32_t *alone,
                 const int32_t *backoff, int64_t c, const int32_t *draw_rows,
                 const int32_t *draw_scores, int64_t d, const int16_t *directions,
                 const float *worth, const double *sums, const int64_t *counts,
                 const float *factors, int64_t steps, float scale, float *mean,
                 int16_t *topic, int64_t step_score, int64_t repeat_score,
                 const int32_t *noise, int32_t *scores, uint8_t *known, int64_t *seen,
                 int32_t *written)
{
    Lists next = {next_ends, next_rows, next_codes};
    Lists last = {last_ends, last_rows, last_codes};
    (void)factors;
    for (int64_t i = 0; i < n; i++) {
        Fitting fitting;
        int32_t left = before[i] < 0 ? written[i - 1] : before[i];
        int64_t best = INT64_MIN;
        fitting.count = 0, fitting.scores = scores, fitting.known = known;
        add_list(&fitting, next, left * width + kinds[i], logs);
        if (after[i] >= 0) add_list(&fitting, last, after[i] * width + kinds[i], logs);
        for (int64_t j = 0; j < c; j++)
            if (draw_rows[i * c + j] >= 0)
                add_candidate(&fitting, draw_rows[i * c + j], draw_scores[i * c + j]);
        if (fitting.count < few)
            add_list(&fitting, next, contexts * width + kinds[i], logs);
        if (d)
            topic_of(d, directions + drawn[i] * d, worth[drawn[i]], sums + texts[i] * d,
                     counts[texts[i]], mean, topic);
        written[i] = drawn[i];
        for (int64_t j = 0; j < fitting.count; j++) {
            int32_t row = fitting.rows[j];
            int64_t score = (int64_t)scores[row] + alone[row] + noise[noise_of(drawn[i], row)];
            known[row] = 0;
            if (after[i] >= 0) score += backoff[row];
            if (seen[row] == texts[i]) score += repeat_score;
            if (d) {
                const int16_t *direction = directions + row * d;
                int32_t cosine = d == 64 ? product(64, direction, topic) : product(d, direction, topic);
                int64_t step = (int64_t)nearest((float)cosine * scale);
                step = step < -(steps / 2) ? -(steps / 2) : step > steps / 2 ? steps / 2 : step;
                score += step * step_score;
            }
            if (score > best || (score == best && row < written[i])) {
                best = score;
                written[i] = row;
            }
        }
        seen[written[i]] = texts[i];
    }
}
