"""Streams an answer into a conversation, word by word. Needs LOOPD (the server's address), TOKEN and CONVERSATION.

What gets no answer is said again, and the server takes it once: a lost connection or a restart costs nothing.
"""

import json
import os
import time
import urllib.request

HEADERS = {"Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json"}


def post(path, body):
    request = urllib.request.Request(os.environ["LOOPD"] + "/v1" + path, json.dumps(body).encode(), HEADERS)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except OSError as error:
            if getattr(error, "code", 500) < 500:
                raise
        time.sleep(0.5)


opening = {"text": "", "stream": True, "key": f"answer {time.time()}"}
message = post(f"/conversations/{os.environ['CONVERSATION']}/messages", opening)
block = {"id": "answer", "type": "text", "content": ""}
for seq, word in enumerate("This answer grows while you watch it.".split(), 1):
    event = {"op": "append", "seq": seq, "mask": "block.content", "block": {**block, "content": word + " "}}
    post(f"/messages/{message['id']}/events", {"event": event})
print(json.dumps(post(f"/messages/{message['id']}/events", {"event": {"op": "end", "seq": seq + 1}})))
