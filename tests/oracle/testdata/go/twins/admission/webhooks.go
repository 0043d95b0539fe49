// +kubebuilder:webhookconfiguration:mutating=true,name=twins-mutate

// Package admission declares what twins.webhooks does.
package admission

// All by default.
// +kubebuilder:webhook:path=/mutate-lifecycle-example-com-v1-ship,mutating=true,failurePolicy=fail,sideEffects=None,groups=lifecycle.example.com,resources=vessels,verbs=create;update,versions=v1,name=mship-v1.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-lifecycle-example-com-v1-ship,mutating=false,failurePolicy=fail,sideEffects=None,groups=lifecycle.example.com,resources=vessels,verbs=create;update,versions=v1,name=vship-v1.kb.io,admissionReviewVersions=v1

// Names and services of one's own, in no order.
// +kubebuilder:webhook:path=/second,mutating=false,failurePolicy=ignore,matchPolicy=Exact,sideEffects=NoneOnDryRun,timeoutSeconds=30,groups=lifecycle.example.com,resources=vessels;vessels/status,verbs=delete,versions=v1;v2,name=z.example.com,admissionReviewVersions=v1;v1beta1,serviceName=my-service,serviceNamespace=my-namespace,servicePort=8443
// +kubebuilder:webhook:path=/first,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,sideEffects=None,groups=lifecycle.example.com,resources=vessels,verbs=connect,versions=v1,name=a.example.com,admissionReviewVersions=v1,timeoutSeconds=1

// Somewhere else, on everything.
// +kubebuilder:webhook:url="https://example.com:9443/hook",mutating=true,failurePolicy=fail,sideEffects=None,groups=*,resources=*,verbs=*,versions=*,name=all.example.com,admissionReviewVersions=v1,reinvocationPolicy=IfNeeded

// Another group's kind, and the core group's.
// +kubebuilder:webhook:path=/mutate-apps-v1-deployment,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create;update,versions=v1,name=mdeployment-v1.kb.io,admissionReviewVersions=v1,reinvocationPolicy=Never
// +kubebuilder:webhook:path=/validate--v1-pod,mutating=false,failurePolicy=fail,sideEffects=None,groups=core,resources=pods,verbs=create,versions=v1,name=vpod-v1.kb.io,admissionReviewVersions=v1
