/// A transport that leaves a result as the text it came in, where a request asks for that with ``ServiceRequest/resultText``.
package protocol TextTransport: Transport {}
