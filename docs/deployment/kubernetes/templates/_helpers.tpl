{{- define "quayside.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "quayside.labels" -}}
app.kubernetes.io/name: quayside
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* What selects the pods of one component; it never changes. */}}
{{- define "quayside.selector" -}}
app.kubernetes.io/name: quayside
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "quayside.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* Pods start anew when what they read at the start has changed. */}}
{{- define "quayside.checksums" -}}
checksum/settings: {{ toYaml .Values.settings | sha256sum }}
checksum/commands: {{ toYaml .Values.commandsFile | sha256sum }}
{{- end }}

{{- define "quayside.container" -}}
image: {{ include "quayside.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "quayside.variables" -}}
- { name: DATABASE_URL_FILE, value: /run/secrets/quayside/database-url }
- { name: ENCRYPTION_KEYS_FILE, value: /run/secrets/quayside/encryption-keys }
- { name: TOKEN_KEYS_FILE, value: /run/secrets/quayside/token-keys }
{{- if .Values.commandsFile }}
- { name: COMMANDS_FILE, value: /etc/quayside/commands.json }
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "quayside.env" -}}
env:
  {{- include "quayside.variables" . | nindent 2 }}
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-settings }
{{- end }}

{{- define "quayside.mounts" -}}
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/quayside, readOnly: true }
  - { name: data, mountPath: /var/lib/quayside }
  - { name: tmp, mountPath: /tmp }
  {{- if .Values.commandsFile }}
  - { name: commands, mountPath: /etc/quayside, readOnly: true }
  {{- end }}
{{- end }}

{{/* The service sees neither the owner's address nor its password. */}}
{{- define "quayside.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.secretName }}
    defaultMode: 0440
    items:
      - { key: database-url, path: database-url }
      - { key: encryption-keys, path: encryption-keys }
      - { key: token-keys, path: token-keys }
- name: tmp
  emptyDir: { sizeLimit: 1Gi }
{{- if .Values.commandsFile }}
- name: commands
  configMap: { name: {{ .Release.Name }}-commands }
{{- end }}
{{- end }}

{{- define "quayside.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{/* Spread over nodes and zones where there are several. */}}
{{- define "quayside.spread" -}}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "quayside.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{- define "quayside.disruptions" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .component }}
  labels: {{- include "quayside.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "quayside.selector" . | nindent 6 }}
{{- end }}
