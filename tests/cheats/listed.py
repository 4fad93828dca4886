"""Which tests of the folder may leave doors out, and why; every other one fails that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cheats.doors import HANDS, VERBS

if TYPE_CHECKING:
    from collections.abc import Collection

LISTED = {
    "test_a_merge_commit_on_the_main_branch_that_drops_a_side_is_found": "made on the main branch: it arrives nowhere",
    "test_a_verdict_of_the_base_beside_a_newer_merge_base": "the index has one commit that it is compared with",
    "test_a_text_of_the_base_beside_a_newer_merge_base": "the index has one commit that it is compared with",
    "test_a_policy_of_the_base_beside_a_newer_merge_base": "the index has one commit that it is compared with",
    "test_a_policy_that_came_to_the_base_by_a_request_which_the_branch_took_in": "the index has one such commit",
    "test_a_file_of_keys_that_came_to_the_base_by_a_request_which_the_branch_took_in": "the index has one such commit",
    "test_a_policy_that_an_earlier_request_had_on_its_way_alone": "the index has one commit that it is compared with",
    "test_what_is_told_by_a_policy_that_an_earlier_request_had_on_its_way_alone": "about the comment",
    "test_keys_that_an_earlier_request_had_on_its_way_alone": "the index has one commit that it is compared with",
    "test_attributes_that_came_to_the_base_by_an_earlier_request": "the index has one commit that it is compared with",
    "test_attributes_that_an_earlier_request_took_away": "the index has one commit that it is compared with",
    "test_histories_that_cross_without_a_cheat": "the index has one commit that it is compared with",
    "test_a_base_in_another_history_is_refused": "`check` refuses: there is nothing that could be merged",
    "test_a_shallow_clone_without_the_base_is_refused": "`check` refuses: the clone has nothing to merge into",
    "test_a_repair_of_what_an_earlier_version_rejected_is_held_against_the_commits": "an index has none",
    "test_another_project_that_both_sides_merged_is_not_compared_with": "the index has one such commit",
    "test_another_project_that_is_merged_into_a_folder_is_no_side_of_the_ledger": "about merges and their sides",
    "test_a_history_of_ones_own_is_a_side_of_the_ledger": "about merges and their sides",
    "test_apply_takes_no_tricks_either": "of the verbs' doors, YAML comes in by `apply` only",
    "test_no_door_of_a_table_is_missing": "about the tables",
    "test_a_test_that_leaves_doors_out_is_told": "about the tables",
    "test_every_listed_name_is_a_test": "about the tables",
}


class DoorsMissed(AssertionError):
    """A test tried a cheat neither at all doors of verbs nor at all of what is written by hand."""


def missed(test: str, walked: Collection[str]) -> None:
    """Raise where a test went through neither set of doors, or went through one although it is listed."""
    whole = [doors for doors in (VERBS, HANDS) if {*walked} >= {*doors}]
    if test in LISTED and whole:
        message = f"{test} goes through {', '.join(whole[0])}: take it off the list"
        raise DoorsMissed(message)
    if test not in LISTED and not whole:
        message = f"{test} goes through {', '.join(sorted(walked)) or 'no door'} only; see tests/cheats/doors.py"
        raise DoorsMissed(message)
