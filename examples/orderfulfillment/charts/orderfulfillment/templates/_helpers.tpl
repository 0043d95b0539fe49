{{/*
Helpers of this chart. Names are cut at 53 characters, which leaves room for suffixes within the 63 of a DNS label.
*/}}

{{- define "orderfulfillment.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "orderfulfillment.fullname" -}}
{{- $name := include "orderfulfillment.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "orderfulfillment.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "orderfulfillment.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "orderfulfillment.selectorLabels" -}}
app.kubernetes.io/name: {{ include "orderfulfillment.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: controller-manager
{{- end }}

{{- define "orderfulfillment.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "orderfulfillment.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "orderfulfillment.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "orderfulfillment.leaseName" -}}
{{ include "orderfulfillment.fullname" . }}-leader
{{- end }}

{{/* The namespaces to watch, separated by commas; nothing for all of them. */}}
{{- define "orderfulfillment.watchNamespace" -}}
{{ .Values.watchNamespace }}
{{- end }}
