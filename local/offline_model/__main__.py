"""`python -m local.offline_model --port 8001`: serve until SIGINT or SIGTERM, after printing the banner."""

import argparse
import asyncio
import signal

from local.offline_model.server import BANNER, PACE, serve_offline_model


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.offline_model", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--pace", type=float, default=PACE, help="seconds between streamed words")
    options = parser.parse_args()
    stop = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stop.set)
    async with serve_offline_model(options.port, pace=options.pace) as url:
        print(BANNER.format(url=url), flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(main())
