// Tomcat with a servlet of its own for each path, and its own reading of Basic credentials.
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.file.Files;
import java.security.Principal;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.authenticator.BasicAuthenticator;
import org.apache.catalina.realm.GenericPrincipal;
import org.apache.catalina.realm.RealmBase;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.LoginConfig;

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
    private static final class Everybody extends RealmBase {
        @Override public Principal authenticate(String user, String password) {
            return new GenericPrincipal(user + ':' + password, List.of());
        }
        @Override protected String getPassword(String user) { return null; }
        @Override protected Principal getPrincipal(String user) { return null; }
    }

    public static void main(String[] words) throws Exception {
        final Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory(java.nio.file.Path.of(words[1]), "tomcat").toString());
        tomcat.setPort(Integer.parseInt(words[0]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        // Listening says that it can serve.
        tomcat.getConnector().setProperty("bindOnInit", "false");
        final Context context = tomcat.addContext("", null);
        for (final String[] one : new String[][] {{"login", "/api/login"}, {"mount", "/graphql/*"}, {"other", "/"}}) {
            Tomcat.addServlet(context, one[0], new Backend(one[0]));
            context.addServletMappingDecoded(one[1], one[0]);
        }
        // Credentials are read where they come, and nobody needs any.
        context.setPreemptiveAuthentication(true);
        context.setRealm(new Everybody());
        context.setLoginConfig(new LoginConfig("BASIC", "backend", null, null));
        context.getPipeline().addValve(new BasicAuthenticator());
        tomcat.start();
        tomcat.getServer().await();
    }
}
