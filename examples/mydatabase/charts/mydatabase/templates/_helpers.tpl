{{/*
Helpers of this chart. Names are cut at 53 characters, which leaves room for suffixes within the 63 of a DNS label.
*/}}

{{- define "mydatabase.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "mydatabase.fullname" -}}
{{- $name := include "mydatabase.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "mydatabase.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "mydatabase.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "mydatabase.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mydatabase.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: controller-manager
{{- end }}

{{- define "mydatabase.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "mydatabase.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "mydatabase.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "mydatabase.leaseName" -}}
{{ include "mydatabase.fullname" . }}-leader
{{- end }}

{{/* The namespaces to watch, separated by commas; nothing for all of them. */}}
{{- define "mydatabase.watchNamespace" -}}
{{ .Values.watchNamespace }}
{{- end }}
