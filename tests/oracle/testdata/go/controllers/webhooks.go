package controllers

// +kubebuilder:webhook:path=/mutate-example-com-v1-mydatabase,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=example.com,resources=mydatabases,verbs=create;update,versions=v1,name=mmydatabase-v1.kb.io,admissionReviewVersions=v1,patch=`{"namespaceSelector":{"matchExpressions":[{"key":"acme.example.com/ignore","operator":"DoesNotExist"}]}}`
// +kubebuilder:webhook:path=/validate-example-com-v1-mydatabase,mutating=false,failurePolicy=ignore,sideEffects=None,groups=example.com,resources=mydatabases,verbs=create;update;delete,versions=v1,name=vmydatabase-v1.kb.io,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-the-operator","expression":"request.userInfo.username != 'system:serviceaccount:acme:operator'"}]}`
