/** Namespace names that the contract writes and reads. */

/** SOAP 1.1, section 3. */
export const SOAP_11 = "http://schemas.xmlsoap.org/soap/envelope/";
/** SOAP 1.2 part 1, section 5. */
export const SOAP_12 = "http://www.w3.org/2003/05/soap-envelope";
/** WSDL 1.1, section 1.2, and its binding to SOAP 1.1, section 3. */
export const WSDL = "http://schemas.xmlsoap.org/wsdl/";
export const WSDL_SOAP = "http://schemas.xmlsoap.org/wsdl/soap/";
export const SOAP_OVER_HTTP = "http://schemas.xmlsoap.org/soap/http";
export const XSD = "http://www.w3.org/2001/XMLSchema";
export const XSI = "http://www.w3.org/2001/XMLSchema-instance";
/** Attributes `xmlns` and `xmlns:…` themselves (Namespaces in XML 1.0, section 3). */
export const XMLNS = "http://www.w3.org/2000/xmlns/";

/** Target namespace of the service where the setting names no other. */
export const DEFAULT_SERVICE_NAMESPACE = "http://labd.example/conservation-scorer";
/** Namespace of the detail of faults that the contract does not declare. */
export const PROBLEM_NAMESPACE = "http://labd.example/problem/1";
