import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.analyze import find, query_terms, term_texts, terms


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Running dogs", "en", ["run", "dog"]),
        ("die Häuser", "de", ["die", "haus"]),
        ("Häuser", "", ["hauser"]),
        ("ISO-9001", "en", ["iso", "9001", "iso9001"]),
        ("user_id", "en", ["user", "id", "userid"]),
        ("3.5", "en", ["3", "5", "3.5"]),
        ("1,000", "en", ["1", "000", "1000"]),
        ("2023-05-01", "en", ["2023", "05", "01", "2023-05-01"]),
        ("infor-\nmation", "en", ["infor", "mation", "inform"]),
        ("C++ and C#", "en", ["c", "c++", "and", "c", "c#"]),
        ("the end.", "en", ["the", "end"]),
        ("हिन्दी", "", ["हिन्दी"]),
        ("日本語", "ja", ["日", "本", "語", "日本", "本語"]),
        ("本", "ja", ["本"]),
        ("データ", "ja", ["デー", "ータ", "データ"]),
        ("한국어 문서", "ko", ["한국", "국어", "한", "문서", "문"]),
        ("3年5月", "ja", ["3", "年", "3年", "5", "月", "5月"]),
        ("제5대", "ko", ["제", "5", "대", "5대"]),
        ("v2.1.3", "en", ["v2", "1", "3", "2.1.3"]),
        ("555-0199", "en", ["555", "0199", "5550199"]),
        ("userName", "en", ["user", "name", "usernam"]),
        ("getHTTPServer-2", "en", ["get", "http", "server", "gethttpserv", "2", "gethttpserver2"]),
        ("iPhone mRNAs GmbH", "", ["iphone", "mrnas", "gmbh"]),
        ("RTX4090 and 100mg", "", ["rtx", "4090", "rtx4090", "and", "100", "mg", "100mg"]),
        ("p53 in the 1990s, 20th", "", ["p53", "in", "the", "1990s", "20th"]),
        ("१२३ ٤٥", "", ["123", "45"]),
        ("๒๕๖๗", "th", ["2567"]),
        ("שָׁלוֹם", "he", ["שלומ"]),
        ("أحمد احمد", "", ["احمد", "احمد"]),
        ("Łódź smørrebrød", "", ["lodz", "smorrebrod"]),
        ("ไทย", "th", ["ไท", "ทย"]),
        ("PCの", "ja", ["pc", "の"]),
        ("tiếng Việt", "vi", ["tiếng", "việt"]),
        ("ガス がす", "ja", ["ガス", "がす"]),
        ("Ёлка", "ru", ["елк"]),
    ],
)
def test_terms(text: str, language: str, expected: list[str]) -> None:
    assert term_texts(text, language) == expected


def test_terms_keep_their_places() -> None:
    text = "Das Oﬃce-Paket in der Straße"
    marked = {t.text: text[t.start : t.end] for t in terms(text, "de")}
    assert marked["strass"] == "Straße"
    assert marked["offic"] == "Oﬃce"
    assert marked["pak"] == "Paket"
    assert marked["officepak"] == "Oﬃce-Paket"


def test_find_returns_the_wanted_terms_only() -> None:
    text = "Dogs run. A dog ran."
    assert [(text[t.start : t.end]) for t in find(text, "en", {"dog"})] == ["Dogs", "dog"]


def test_spellings_of_a_compound_meet() -> None:
    whole = {"email"}
    assert all(whole <= set(term_texts(form, "en")) for form in ("e-mail", "email", "E-Mails", "e\u2010mail"))
    assert set(term_texts("ISO-9001", "en")) & set(term_texts("ISO9001", "en"))


def test_query_words_have_a_stem_for_each_language() -> None:
    house, two = query_terms("Häuser zwei zwei", ["en", "de", "fr"])
    assert house.text == "häuser"
    assert set(house.alternatives) == {"hauser", "haus"}
    assert two.alternatives == ("zwei",)
    assert two.weight == 2.0


def test_query_words_without_languages_are_not_stemmed() -> None:
    assert [t.alternatives for t in query_terms("running", [])] == [("running",)]


def test_query_words_are_bounded() -> None:
    found = query_terms(" ".join(f"word{i}" for i in range(1000)) + " word3", ["en"], limit=10)
    assert [t.text for t in found] == [f"word{i}" for i in range(10)]
    assert found[3].weight == 2.0


def test_long_garbage_is_cut() -> None:
    assert term_texts("x" * 10_000, "en") == ["x" * 64]
    assert all(len(term) <= 64 for term in term_texts("-".join(["part" * 5] * 6), "en"))


@given(st.text(), st.sampled_from(["", "en", "de", "ja", "hi", "vi"]))
def test_index_and_query_see_the_same_terms(text: str, language: str) -> None:
    found = terms(text, language)
    assert [t.text for t in found] == term_texts(text, language)
    assert {t.text for t in found} == {a for q in query_terms(text, [language]) for a in q.alternatives}
    assert all(0 <= t.start < t.end <= len(text) and t.text for t in found)


def test_threads_stem_alike() -> None:
    text = "running houses nationally " * 200
    expected, results = term_texts(text, "en"), []

    def work() -> None:
        results.append(term_texts(text, "en") == expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4
