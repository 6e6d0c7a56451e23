// Jetty with a servlet of its own for each path, and its own reading of Basic credentials.
import java.security.Principal;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.security.auth.Subject;
import javax.servlet.ServletRequest;
import javax.servlet.http.Cookie;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.security.ConstraintSecurityHandler;
import org.eclipse.jetty.security.DefaultIdentityService;
import org.eclipse.jetty.security.IdentityService;
import org.eclipse.jetty.security.LoginService;
import org.eclipse.jetty.security.authentication.BasicAuthenticator;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.UserIdentity;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

final class Backend extends HttpServlet {
    private final String handler;

    Backend(String handler) { this.handler = handler; }

    static String json(Stream<String> texts) {
        return texts.map(text -> '"' + text.chars()
            .mapToObj(c -> c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? String.format("\\u%04x", c) : "" + (char) c)
            .collect(Collectors.joining()) + '"').collect(Collectors.joining(",", "[", "]"));
    }

    private static Stream<String> cookie(HttpServletRequest request) {
        final Cookie[] cookies = request.getCookies();
        return Stream.of(cookies == null ? new Cookie[0] : cookies)
            .filter(one -> one.getName().equals("session_id")).map(Cookie::getValue);
    }

    private static Stream<String> credentials(HttpServletRequest request) {
        if (request.getUserPrincipal() != null) {
            return Stream.of("basic " + request.getUserPrincipal().getName());
        }
        final String field = request.getHeader("Authorization");
        final String[] words = field == null ? new String[0] : field.trim().split("\\s+", 2);
        return words.length < 2 ? Stream.empty() : Stream.of(words[0].toLowerCase() + ' ' + words[1]);
    }

    private void answer(HttpServletRequest request, HttpServletResponse response, String method) {
        response.setHeader("X-Read", "{\"handler\":\"" + handler + "\",\"method\":\"" + method
            + "\",\"query\":" + json(Stream.ofNullable(request.getParameter("api_key")))
            + ",\"cookie\":" + json(cookie(request))
            + ",\"authorization\":" + json(credentials(request)) + '}');
    }

    @Override protected void doGet(HttpServletRequest q, HttpServletResponse p) { answer(q, p, "GET"); }
    @Override protected void doPost(HttpServletRequest q, HttpServletResponse p) { answer(q, p, "POST"); }
    @Override protected void doPut(HttpServletRequest q, HttpServletResponse p) { answer(q, p, "PUT"); }
    @Override protected void doDelete(HttpServletRequest q, HttpServletResponse p) { answer(q, p, "DELETE"); }
    @Override protected void doOptions(HttpServletRequest q, HttpServletResponse p) { answer(q, p, "OPTIONS"); }

    // Lets everybody in, by the name "user:password".
    private static final class Everybody implements LoginService {
        private IdentityService identities = new DefaultIdentityService();

        @Override public String getName() { return "backend"; }
        @Override public UserIdentity login(String user, Object password, ServletRequest request) {
            final Principal principal = () -> user + ':' + password;
            return identities.newUserIdentity(new Subject(), principal, new String[0]);
        }
        @Override public boolean validate(UserIdentity user) { return true; }
        @Override public IdentityService getIdentityService() { return identities; }
        @Override public void setIdentityService(IdentityService service) { identities = service; }
        @Override public void logout(UserIdentity user) {}
    }

    public static void main(String[] words) throws Exception {
        final Server server = new Server();
        // Its cache of fields takes a field for an earlier one that differs in letter case.
        final HttpConfiguration http = new HttpConfiguration();
        http.setHeaderCacheSize(0);
        final ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(words[0]));
        server.addConnector(connector);
        final ServletContextHandler context = new ServletContextHandler(ServletContextHandler.SECURITY);
        for (final String[] one : new String[][] {{"login", "/api/login"}, {"mount", "/graphql/*"}, {"other", "/"}}) {
            context.addServlet(new ServletHolder(new Backend(one[0])), one[1]);
        }
        final ConstraintSecurityHandler security = new ConstraintSecurityHandler();
        security.setAuthenticator(new BasicAuthenticator());
        security.setLoginService(new Everybody());
        context.setSecurityHandler(security);
        server.setHandler(context);
        server.start();
        server.join();
    }
}
