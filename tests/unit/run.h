/* tests/unit/run.h - the main function of a unit test program: TAP on standard output.
 *
 *   RUN_TESTS("lexer",
 *     tcase_add_test(cases, empty_text);
 *     tcase_add_loop_test(cases, tokens, 0, sizeof table / sizeof *table);
 *   )
 */
#ifndef GS_TESTS_UNIT_RUN_H
#define GS_TESTS_UNIT_RUN_H

#include <check.h>
#include <stdlib.h>

enum { RUN_TIMEOUT = 120 };            /* seconds for one test, enough under sanitizers */

#define RUN_TESTS(name, ...) \
  int main(void) \
  { \
    Suite *suite = suite_create(name); \
    TCase *cases = tcase_create(name); \
    tcase_set_timeout(cases, RUN_TIMEOUT); \
    __VA_ARGS__ \
    suite_add_tcase(suite, cases); \
    SRunner *runner = srunner_create(suite); \
    srunner_set_tap(runner, "-"); \
    srunner_run_all(runner, CK_SILENT); \
    int failed = srunner_ntests_failed(runner); \
    srunner_free(runner); \
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE; \
  }

#endif
