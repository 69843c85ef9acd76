# dptext as a filter that has no network and no rights:
#   docker run --rm -i --network none --read-only --tmpfs /tmp dptext sanitize --field text < in.jsonl > out.jsonl
FROM python:3.12-slim AS build
WORKDIR /src
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY profiles profiles
COPY dptext dptext
RUN python -m venv /opt/dptext \
    && /opt/dptext/bin/pip install --no-cache-dir ".[parquet,xlsx,zstd]" \
    && /opt/dptext/bin/pip check

FROM python:3.12-slim
LABEL org.opencontainers.image.title="dptext" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/dptext /opt/dptext
RUN useradd --uid 10001 --create-home dptext
ENV PATH="/opt/dptext/bin:$PATH" \
    XDG_CACHE_HOME=/tmp/cache \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /data
ENTRYPOINT ["dptext"]
CMD ["sanitize"]
