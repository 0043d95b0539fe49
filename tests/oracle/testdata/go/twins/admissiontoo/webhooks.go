// Package admissiontoo declares more, from another package.
package admissiontoo

// Some namespaces and some objects.
// +kubebuilder:webhook:path=/some,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps;batch,resources=deployments;jobs,verbs=create;update,versions=v1,name=some.example.com,admissionReviewVersions=v1,patch=`{"namespaceSelector":{"matchLabels":{"team":"sea"},"matchExpressions":[{"key":"tier","operator":"In","values":["back","front"]},{"key":"old","operator":"DoesNotExist"}]},"objectSelector":{"matchExpressions":[{"key":"kind","operator":"NotIn","values":["test"]},{"key":"owner","operator":"Exists"}]}}`

// Conditions.
// +kubebuilder:webhook:path=/conditions,mutating=true,failurePolicy=fail,sideEffects=None,groups=apps,resources=deployments,verbs=create,versions=v1,name=conditions.example.com,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-a-lease","expression":"request.resource.group != 'coordination.k8s.io'"},{"name":"a-person","expression":"!('system:nodes' in request.userInfo.groups)"}],"namespaceSelector":{"matchLabels":{"team":"sea"}}}`
