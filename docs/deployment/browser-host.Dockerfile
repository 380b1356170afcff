# A host of browsers: the image of the service, with what runs, keeps in and records browsers.
FROM quayside
USER root
RUN apt-get update \
  && apt-get install --yes --no-install-recommends \
    bubblewrap chromium ffmpeg fonts-dejavu-core fonts-liberation fonts-noto-color-emoji socat \
  && rm -rf /var/lib/apt/lists/*
USER 10001:10001
EXPOSE 3001
ENV BROWSER_HOST_PORT=3001
# Folders of browsers are in /tmp.
VOLUME /tmp
CMD ["npm", "run", "start:browser-host"]
