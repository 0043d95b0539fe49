{{/*
Helpers of this chart. Names are cut at 53 characters, which leaves room for suffixes within the 63 of a DNS label.
*/}}

{{- define "rediscluster.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "rediscluster.fullname" -}}
{{- $name := include "rediscluster.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "rediscluster.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "rediscluster.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "rediscluster.selectorLabels" -}}
app.kubernetes.io/name: {{ include "rediscluster.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: controller-manager
{{- end }}

{{- define "rediscluster.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "rediscluster.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "rediscluster.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "rediscluster.leaseName" -}}
{{ include "rediscluster.fullname" . }}-leader
{{- end }}

{{/* The namespaces to watch, separated by commas; nothing for all of them. */}}
{{- define "rediscluster.watchNamespace" -}}
{{ .Values.watchNamespace }}
{{- end }}
