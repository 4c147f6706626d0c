"""`bench retrieval` asks by vectors, too, where there is an encoder; its texts are embedded once."""

import json

from embed_room import EmbedRoom

DOCUMENTS = [
    {"id": "heron", "text": "The heron stands in the marsh."},
    {"id": "kettle", "text": "The kettle boils on the stove."},
    {"id": "lathe", "text": "The lathe turns oak."},
]
QUESTIONS = [{"text": "heron marsh", "gold": ["heron"]}, {"text": "kettle stove", "gold": ["kettle"]}]


def labelled(room: EmbedRoom) -> str:
    folder = room.checkout / "questions"
    folder.mkdir()
    for name, rows in (("corpus.jsonl", DOCUMENTS), ("queries.jsonl", QUESTIONS)):
        (folder / name).write_text("\n".join(map(json.dumps, rows)))
    return str(folder)


def test_a_labelled_set_is_embedded_once_and_asked_by_vectors(room: EmbedRoom) -> None:
    room.write("notes/a.md", "# A\n\nSomething.")
    questions = labelled(room)
    first = room.json("bench", "retrieval", "--set", questions)
    assert (first["any@1"], first["gaps"]) == (1.0, [])
    assert {one["text"] for one in QUESTIONS} <= set(room.stub.texts)
    assert any("heron" in text for text in room.stub.texts if text not in {one["text"] for one in QUESTIONS})
    asked = len(room.stub.asked)
    assert room.json("bench", "retrieval", "--set", questions)["any@1"] == 1.0
    assert len(room.stub.asked) == asked


def test_no_vector_asks_nobody_and_a_service_that_fails_is_told(room: EmbedRoom) -> None:
    questions = labelled(room)
    assert room.json("bench", "retrieval", "--set", questions, "--no-vector")["gaps"] == []
    assert room.stub.asked == []
    room.stub.answers = [(401, {}, {})] * 9
    answer = room.json("bench", "retrieval", "--set", questions)
    assert answer["any@1"] == 1.0
    (gap,) = answer["gaps"]
    assert gap.startswith("vectors are left out: ")
